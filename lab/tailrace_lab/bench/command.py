"""Builds the command line that repeats a benchmark's runs, in words for a shell. Pure."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .pattern_settings import Settings

_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def line(settings: Settings) -> str:
    """Returns `tailrace bench pattern …`, with the options that determine the runs."""
    s = settings
    words = ["tailrace", "bench", "pattern"]
    for directory in s.directories:
        words += ["--dir", str(directory)]
    words += ["--bytes", size(s.bytes), "--iterations", str(s.iterations), "--repeats", str(s.repeats)]
    if s.compute_seconds is not None:
        words += ["--compute-time", f"{s.compute_seconds:g}s"]
    else:
        words += ["--ratio", ",".join(f"{ratio:g}" for ratio in s.ratios)]
    words += ["--ablation"] if s.ablation else ["--writers", ",".join(s.writers)]
    for option, value, default in (("--kernel", s.kernel, "busy"), ("--threads", s.threads, 1),
                                   ("--memory", s.memory, "heap"), ("--variables", s.variables, 1),
                                   ("--queue-depth", s.queue_depth, 8)):
        if value != default:
            words += [option, str(value)]
    return shlex.join(words)


def size(count: int) -> str:
    """Returns the exact size in the largest unit: 67108864 → "64MiB"."""
    for factor, unit in _UNITS:
        if count % factor == 0 and count:
            return f"{count // factor}{unit}"
    return f"{count}B"
