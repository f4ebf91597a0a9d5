"""The document of a study whose ways write to one scratch directory, with what could not be run, and bars. Pure but
for the clock and the machine's description."""

from __future__ import annotations

import datetime
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import tailrace

from . import machine
from .bars import Bar
from .scratch import Scratch
from .steal import Steal


def document(kind: str, version: int, command: str, directory: pathlib.Path, scratch: Scratch,
             missing: Mapping[str, str], cells: Sequence[dict[str, Any]], bars: Sequence[Bar],
             steal: Steal) -> dict[str, Any]:
    """Returns the document; `kind` is the key of its version, `missing` says what could not be run, and why."""
    now = datetime.datetime.now(datetime.timezone.utc)
    storage = {"directory": str(directory), "filesystem": machine.filesystem(scratch.directories[0]),
               "page_cache": "synced in the end; tailrace bypasses it where it can"}
    return {kind: version, "created": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "command": command,
            "tailrace": tailrace.__version__, "machine": machine.describe(), "storage": [storage],
            "missing": [{"what": what, "why": why} for what, why in missing.items()], "cells": list(cells),
            "bars": [bar.document() for bar in bars], "steal": steal.document()}
