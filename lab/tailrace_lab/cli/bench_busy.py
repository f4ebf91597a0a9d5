"""`tailrace bench pattern --busy`: a program beside busy loops, with tailrace and synchronously.

Passes the settings to tailrace_lab.bench.busy; bench_bars.py prints the results. Measures nothing itself.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from . import bench_options

if TYPE_CHECKING:
    from ..bench.pattern import Settings

_MOST = 1024
_OTHERS = ("sweep", "writers", "ablation", "trace", "keep")  # options that say what else to compare


def loops(text: str) -> tuple[int, ...]:
    """Parses numbers of loops, separated by commas."""
    each = bench_options.count(0, _MOST)
    return tuple(dict.fromkeys(each(word) for word in text.split(",")))


def check(arguments: argparse.Namespace) -> None:
    """Ends with a message if other options do not go together with --busy."""
    for other in _OTHERS:
        if getattr(arguments, other):
            arguments.parser.error(f"argument --busy: not allowed with argument --{other}")
    if arguments.ratio is not None and len(arguments.ratio) > 1:
        arguments.parser.error("argument --busy: runs at one C/W, found several")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Runs the study; returns the exit code."""
    from ..bench import busy, program

    from . import bench_bars

    return bench_options.conduct(
        arguments, lambda stream: bench_bars.Printer(stream, arguments.quick),
        lambda printer, display: busy.study(program.find(arguments.pattern), settings, arguments.busy,
                                            _Told(printer, display)))


class _Told:
    """The observer: sends progress to the bar on the terminal, and results to the printer."""

    def __init__(self, printer: Any, display: Any) -> None:
        self.doing = display.doing
        self.part = printer.part
