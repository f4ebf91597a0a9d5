"""A runtime directory of place core for measurements alone, so that they meet no other job of this user, and leave
nothing behind.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import tempfile
import time
from types import TracebackType

_SHARED_MEMORY = pathlib.Path("/dev/shm")
_SECONDS = 10.0


class RuntimeDirectory:
    """A context manager; `environment` has what programs need to use it."""

    def __enter__(self) -> RuntimeDirectory:
        below = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
        self._directory = pathlib.Path(tempfile.mkdtemp(prefix="tailrace_bench_", dir=below))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        # A server ends when its last client has gone; if that client was killed, the server first writes what is
        # left.
        if kind is None:
            self.wait()
        for server in self.servers():
            os.kill(server, signal.SIGKILL)
        shutil.rmtree(self._directory, ignore_errors=True)
        for table in self._directory.parent.glob(f"{self._directory.name}.pending-*"):  # of MPI-IO, beside it
            table.unlink(missing_ok=True)

    @property
    def environment(self) -> dict[str, str]:
        """The variables to add to a program's environment."""
        return {"TAILRACE_RUNTIME_DIR": str(self._directory)}

    def servers(self) -> list[int]:
        """Returns the processes that serve here, as the system knows them."""
        wanted = b"\0--root\0" + os.fsencode(self._directory) + b"\0"
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and wanted in (entry / "cmdline").read_bytes() + b"\0":
                    found.append(int(entry.name))
            except OSError:
                pass  # it has just ended
        return found

    def wait(self) -> None:
        """Waits until no server is left, as after the clients have gone; at most a few seconds."""
        end = time.monotonic() + _SECONDS
        while self.servers() and time.monotonic() < end:
            time.sleep(0.02)
