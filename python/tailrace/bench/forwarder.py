"""A forwarder for measurements alone: a process on this machine, with a key that nobody else has.

It is started as users start it, by `tailrace serve forward`.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from types import TracebackType

from .program import Failed

_TAILRACE = (sys.executable, "-m", "tailrace.cli")
_SECONDS = 30.0


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
        made = subprocess.run([*_TAILRACE, "key", "new", str(self.key)], capture_output=True, text=True, check=False)
        config = below / "io.yaml"
        config.write_text(json.dumps({  # JSON is YAML
            "tailrace": 1, "name": "bench", "memory": {"budget": self._budget},
            "forward": {"listen": "127.0.0.1:0", "roots": [str(root.resolve()) for root in self._roots],
                        "key": str(self.key)}}))
        self._process = subprocess.Popen([*_TAILRACE, "serve", "forward", "--config", str(config)],
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                         text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if made.returncode != 0 or not line.startswith("listening on "):
            self._process.kill()
            said = made.stderr + self._process.communicate()[1]
            self._directory.cleanup()
            raise Failed(f"the forwarder does not start: {said.strip() or 'it said nothing'}")
        self.address = line.split()[-1]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._process.terminate()
        try:
            self._process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        self._directory.cleanup()

    def arguments(self, transports: str) -> list[str]:
        """Returns a program's arguments that lead to it; `transports`: those of UCX, or "" for its choice."""
        return ["--forward", self.address, "--key", str(self.key),
                *(["--transports", transports] if transports else [])]
