"""The loop of every peer in Python: compute, mark the block as this iteration's, hand it to a writer, take all times.

It does what `pattern run` does, with the same computation (libpattern_compute.so) and the same JSON document, so that
a peer's program has only what its user would write. It judges nothing, and knows no library that writes.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import pathlib
import platform
import shutil
import struct
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Block = npt.NDArray[np.uint8]

# Places where a block is marked with its iteration and the computation's result, so that a check finds an old one.
STAMPS = 64
_STAMP = struct.Struct("=qqd")  # iteration, variable, result
_WARM_UP_PASSES = 1000  # most passes; not timed
_LEAST = STAMPS * _STAMP.size


class Writer(Protocol):
    """A way to write. It may use only files in `directory` whose names begin with `peer`."""

    name: str
    switches: dict[str, object]
    page_cache: str

    def describe(self) -> str:
        """Returns the library and its version."""

    def open(self, directory: pathlib.Path, block: Block) -> None:
        """Prepares; not timed. `block` is the memory for each iteration's bytes."""

    def put(self, iteration: int) -> None:
        """Hands the block over. When it returns, the block may be computed again."""

    def finish(self) -> None:
        """Waits until the operating system has everything."""

    def read(self, iteration: int) -> Block:
        """Returns what a reader of the finished output finds."""


class Computation:
    """The pattern program's kernel `kernel`."""

    def __init__(self, library: str, kernel: str, threads: int, memory: str) -> None:
        self._library = ctypes.CDLL(library)
        self._library.pattern_compute_new.restype = ctypes.c_void_p
        self._library.pattern_compute_new.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p]
        self._library.pattern_compute_run.restype = None
        self._library.pattern_compute_run.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
        self._library.pattern_compute_result.restype = ctypes.c_double
        self._library.pattern_compute_result.argtypes = [ctypes.c_void_p]
        self._library.pattern_compute_free.restype = None
        self._library.pattern_compute_free.argtypes = [ctypes.c_void_p]
        self._kernel = self._library.pattern_compute_new(kernel.encode(), threads, memory.encode())
        if not self._kernel:
            raise RuntimeError(f"{library} has no kernel {kernel} with {threads} threads on {memory} memory")

    def run(self, passes: int) -> None:
        """Computes. Other Python threads run meanwhile, since ctypes releases the interpreter's lock."""
        self._library.pattern_compute_run(self._kernel, passes)

    def result(self) -> float:
        return float(self._library.pattern_compute_result(self._kernel))

    def end(self) -> None:
        """Ends its threads."""
        self._library.pattern_compute_free(self._kernel)


def fill(block: Block) -> None:
    """Touches the block, and gives each byte a value that depends on its place."""
    ramp = (np.arange(251 * 4096, dtype=np.uint32) % 251).astype(np.uint8)
    for at in range(0, block.size, ramp.size):
        block[at:at + ramp.size] = ramp[:min(ramp.size, block.size - at)]


def stamp(block: Block, iteration: int, result: float) -> None:
    """Marks the block in 64 places, the last of them at its end, as the pattern program does."""
    mark = np.frombuffer(_STAMP.pack(iteration, 0, result), dtype=np.uint8)
    stride = block.size // STAMPS
    block[:(STAMPS - 1) * stride].reshape(-1, stride)[:, :mark.size] = mark
    block[-mark.size:] = mark


def hash_of(results: Iterable[float]) -> str:
    """Returns FNV-1a over the results' bytes, as the pattern program prints it."""
    value = 0xcbf29ce484222325
    for byte in b"".join(struct.pack("<d", result) for result in results):
        value = (value ^ byte) * 0x100000001b3 % (1 << 64)
    return f"{value:016x}"


def _arguments(switches: Callable[[argparse.ArgumentParser], None] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(sys.modules["__main__"].__doc__ or "A peer.").partition("\n")[0])
    parser.add_argument("--library", required=True, help="libpattern_compute.so")
    parser.add_argument("--compute", default="busy")
    parser.add_argument("--passes", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory", default="heap")
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--variables", type=int, default=1, choices=[1])
    parser.add_argument("--dir", type=pathlib.Path, required=True)
    parser.add_argument("--keep", action="store_true", help="leave the files")
    parser.add_argument("--verify", action="store_true", help="read all back and compare, after the run")
    if switches is not None:
        switches(parser)
    arguments = parser.parse_args()
    for name in ("passes", "threads", "iterations"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name}: found {getattr(arguments, name)}, expected 1 or more")
    if arguments.bytes < _LEAST or arguments.bytes % 8:
        parser.error(f"--bytes: found {arguments.bytes}, expected a multiple of 8, {_LEAST} or more")
    return arguments


def clear(directory: pathlib.Path) -> None:
    """Removes the peers' files, and makes the file system free the space now, not in the next run's time."""
    for path in directory.glob("peer*"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    os.sync()


def _sync_all(directory: pathlib.Path) -> None:
    """Waits until what went through the page cache is on the device."""
    for path in sorted(directory.glob("peer*")):
        for file in [path, *path.rglob("*")]:
            if file.is_file():
                descriptor = os.open(file, os.O_RDWR)
                try:
                    os.fdatasync(descriptor)
                finally:
                    os.close(descriptor)


def memory(key: str) -> int:
    """Returns a line of /proc/self/status, in bytes."""
    for line in pathlib.Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(key + ":"):
            return 1024 * int(line.split()[1])
    return 0


def _run(writer: Writer, arguments: argparse.Namespace) -> tuple[dict[str, Any], list[float]]:
    """Runs it; returns the times, and the computation's result of each iteration."""
    computation = Computation(arguments.library, arguments.compute, arguments.threads, arguments.memory)
    block: Block = np.empty(arguments.bytes, dtype=np.uint8)
    fill(block)
    writer.open(arguments.dir, block)
    computation.run(min(arguments.passes, _WARM_UP_PASSES))
    computing, waiting, results = [], [], []
    start = time.perf_counter()
    for iteration in range(arguments.iterations):
        before = time.perf_counter()
        computation.run(arguments.passes)
        results.append(computation.result())
        stamp(block, iteration, results[-1])
        computed = time.perf_counter()
        writer.put(iteration)
        computing.append(computed - before)
        waiting.append(time.perf_counter() - computed)
    before = time.perf_counter()
    writer.finish()
    _sync_all(arguments.dir)
    end = time.perf_counter()
    computation.end()
    waiting[-1] += end - before
    return {"seconds_total": end - start, "seconds_computing": sum(computing), "seconds_waiting": sum(waiting),
            "seconds_computing_each": computing, "seconds_waiting_each": waiting}, results


def verify(read: Callable[[int], Block], size: int, results: Iterable[float]) -> None:
    """Raises ValueError unless every byte of every iteration is right."""
    expected: Block = np.empty(size, dtype=np.uint8)
    fill(expected)
    for iteration, result in enumerate(results):
        stamp(expected, iteration, result)
        found = read(iteration)
        if found.shape != expected.shape:
            raise ValueError(f"iteration {iteration}: found {found.shape} bytes, expected {expected.shape}")
        differ = np.flatnonzero(found != expected)
        if differ.size:
            at = int(differ[0])
            raise ValueError(f"iteration {iteration}, byte {at}: found {found[at]}, expected {expected[at]}; "
                             f"{differ.size} byte{'s differ' if differ.size > 1 else ' differs'}")


def main(make_writer: Callable[[argparse.Namespace], Writer],
         switches: Callable[[argparse.ArgumentParser], None] | None = None) -> int:
    """Runs the peer's program; returns its exit code."""
    arguments = _arguments(switches)
    try:
        writer = make_writer(arguments)
        arguments.dir.mkdir(parents=True, exist_ok=True)
        clear(arguments.dir)
        started_with = memory("VmRSS")
        times, results = _run(writer, arguments)
        peak = memory("VmHWM")  # before reading back, which does not count
        if arguments.verify:
            verify(writer.read, arguments.bytes, results)
        if not arguments.keep:
            clear(arguments.dir)
    except Exception as error:  # noqa: BLE001: of any library; this is the program's border
        print(f"{pathlib.Path(sys.argv[0]).name}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    document = {
        "pattern_run": 1, "writer": writer.name, "switches": writer.switches, "page_cache": writer.page_cache,
        "compute": arguments.compute, "passes": arguments.passes, "threads": arguments.threads,
        "memory": arguments.memory, "iterations": arguments.iterations, "bytes": arguments.bytes, "variables": 1,
        "devices": 1, **times, "per_variable": [], "peak_memory_bytes": peak, "buffer_bytes": arguments.bytes,
        "budget_bytes": 0, "runtime_memory_bytes": started_with, "result_hash": hash_of(results),
        "cache_misses": None, "cache_misses_not_available": "not counted for peers", "verified": arguments.verify,
        "description": f"{writer.describe()}, Python {platform.python_version()}, NumPy {np.__version__}"}
    print(json.dumps(document))
    return 0
