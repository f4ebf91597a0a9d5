"""Describes the machine and the storage of a result: processor, memory, kernel, file system.

Reads /proc and /etc/os-release; changes nothing.
"""

from __future__ import annotations

import os
import pathlib
import platform
from typing import Any


def describe() -> dict[str, Any]:
    """Returns the "machine" of a result file."""
    return {"cpu": _field("/proc/cpuinfo", "model name") or platform.machine(),
            "cpus": cpus(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "kernel": platform.release(), "os": _os()}


def cpus() -> int:
    """Returns how many processors this process may use."""
    return len(os.sched_getaffinity(0))


def filesystem(directory: pathlib.Path) -> str:
    """Returns the type of a directory's file system, such as ext4; "unknown" if the kernel does not report it."""
    device = directory.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    mounted = directory.resolve()
    fallback = (0, "unknown")
    for line in _lines("/proc/self/mountinfo"):
        before, _, after = line.partition(" - ")
        fields = before.split()
        if fields[2] == wanted:
            return after.split()[0]
        # btrfs and similar show other device numbers in stat: there the longest mount point above the directory
        # counts.
        point = fields[4].replace("\\040", " ")
        if mounted.is_relative_to(point) and len(point) > fallback[0]:
            fallback = (len(point), after.split()[0])
    return fallback[1]


def _os() -> str:
    for line in _lines("/etc/os-release"):
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return platform.system()


def _field(file: str, name: str) -> str:
    for line in _lines(file):
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def _lines(file: str) -> list[str]:
    try:
        return pathlib.Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
