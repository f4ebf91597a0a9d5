"""A second program that loads the disk while something else is measured: fio, which writes at random places,
bypassing the page cache, as fast as the disk allows.

It runs on the last cpu, the server's: the measurement is of a loaded disk, not of a cpu less for the program.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
from types import TracebackType

from .program import Failed

_SECONDS = 20.0  # limit for its begin, and for its end
_BEGUN = 16 << 20  # bytes that it must have written before it counts as running
_JOB = ("--name=load", "--rw=randwrite", "--bs=256k", "--iodepth=8", "--ioengine=libaio", "--direct=1",
        "--time_based", "--runtime=36000", "--thread", "--fallocate=none", "--output-format=json")


class NoLoad(Exception):
    """Says why there is no load."""


def find() -> str:
    """Returns the path of the program; raises NoLoad."""
    found = shutil.which("fio")
    if found is None:
        raise NoLoad("fio is not installed (the package fio; `tools/setup.sh bench` installs it)")
    return found


class Load:
    """A context manager: the disk is loaded while it is open. Afterwards `rate` is what fio wrote, in bytes a second;
    None if it did not report that."""

    def __init__(self, directory: pathlib.Path, size: int = 512 << 20) -> None:
        self._directory = directory
        self._size = size
        self.rate: float | None = None

    def __enter__(self) -> Load:
        program = find()
        self._directory.mkdir(parents=True, exist_ok=True)
        self._messages = self._directory / "fio.log"
        with open(self._messages, "wb") as log:
            self._fio = subprocess.Popen(
                [program, *_JOB, f"--directory={self._directory}", f"--size={self._size}",
                 f"--cpus_allowed={max(os.sched_getaffinity(0))}"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        try:
            self._await()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        still = self._fio.poll() is None
        said = self._end()
        if kind is None and not still:
            raise Failed(f"fio ended while it should load the disk (exit code {self._fio.returncode})")
        try:
            self.rate = float(json.loads(said[said.index(b"{"):])["jobs"][0]["write"]["bw_bytes"])
        except (ValueError, LookupError, TypeError):
            self.rate = None

    def _await(self) -> None:
        """Waits until it writes."""
        end = time.monotonic() + _SECONDS
        while self._written() < min(_BEGUN, self._size):
            if self._fio.poll() is not None:
                said = self._messages.read_text(encoding="utf-8", errors="replace").strip()
                raise Failed(f"fio ended with exit code {self._fio.returncode}: {said or 'it said nothing'}")
            if time.monotonic() > end:
                raise Failed(f"fio has written nothing within {_SECONDS:.0f} s")
            time.sleep(0.02)

    def _written(self) -> int:
        try:
            lines = pathlib.Path(f"/proc/{self._fio.pid}/io").read_text(encoding="ascii").splitlines()
        except OSError:
            return 0
        return next((int(line.split()[1]) for line in lines if line.startswith("write_bytes:")), 0)

    def _end(self) -> bytes:
        """Ends it and returns its output."""
        if self._fio.poll() is None:
            self._fio.send_signal(signal.SIGINT)
        try:
            said, _ = self._fio.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            self._fio.kill()
            said, _ = self._fio.communicate()
        shutil.rmtree(self._directory, ignore_errors=True)
        return said
