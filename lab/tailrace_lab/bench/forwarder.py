"""Forwarders for measurements alone: processes on this machine, with a key of their own.

Forwarder is started as users start it, by `tailrace serve forward`; start() and end() serve other programs that say
"listening on …", too.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from types import TracebackType

from .program import Failed

_TAILRACE = (sys.executable, "-m", "tailrace.cli")
_SECONDS = 30.0


def make_key(file: pathlib.Path) -> None:
    """Makes a key file; raises Failed."""
    made = subprocess.run([*_TAILRACE, "key", "new", str(file)], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Failed(f"no key: {made.stderr.strip()}")


def start(command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[subprocess.Popen[str], str]:
    """Starts a forwarder, and returns it with its address; raises Failed. `environment` replaces ours."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    if line.startswith("listening on "):
        return process, line.split()[-1]
    process.kill()
    raise Failed(f"a forwarder does not start: {process.communicate()[1].strip() or 'it said nothing'}")


def end(process: subprocess.Popen[str]) -> None:
    """Asks a forwarder to end, and waits until it has."""
    process.terminate()
    try:
        process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


class Forwarder:
    """A context manager: a forwarder that writes below `roots`, with a memory of `budget` bytes."""

    def __init__(self, roots: Sequence[pathlib.Path], budget: int) -> None:
        self._roots = roots
        self._budget = budget
        self.address = ""

    def __enter__(self) -> Forwarder:
        self._directory = tempfile.TemporaryDirectory(prefix="tailrace_forward_")
        below = pathlib.Path(self._directory.name)
        self.key = below / "key"
        config = below / "io.yaml"
        config.write_text(json.dumps({  # JSON is YAML
            "tailrace": 1, "name": "bench", "memory": {"budget": self._budget},
            "forward": {"listen": "127.0.0.1:0", "roots": [str(root.resolve()) for root in self._roots],
                        "key": str(self.key)}}))
        try:
            make_key(self.key)
            self._process, self.address = start([*_TAILRACE, "serve", "forward", "--config", str(config)])
        except Failed:
            self._directory.cleanup()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        end(self._process)
        self._directory.cleanup()

    def arguments(self) -> list[str]:
        """Returns a program's arguments that lead to it."""
        return ["--forward", self.address, "--key", str(self.key)]
