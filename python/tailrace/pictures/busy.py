"""How busy the writer was over the iterations: its share of each, and the time from one to the next.

At the top, a bar for each iteration: the dark part is transfers, the hatched part the further time of the filters. At
the bottom, the period of which the bar is a share. Iterations whose chunks were stored with less effort, or
uncompressed, are marked.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tailrace import iterations, quantity
from tailrace.files import File
from tailrace.iterations import Iteration

_DARK = "#2f6690"


@dataclass(frozen=True)
class Run:
    """The iterations of one client, and its files, from a file of statistics."""

    name: str
    who: str
    iterations: list[Iteration]
    files: list[File] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Returns True if the period of any iteration is known."""
        return any(one.share is not None for one in self.iterations)


def draw(run: Run) -> Figure:
    """Draws both panels."""
    passed = [one for one in run.iterations if one.share is not None]
    figure = Figure(figsize=(7.0, 4.2))
    shares, periods = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    numbers = [one.number for one in passed]
    width = 0.8 * min((b - a for a, b in zip(sorted(numbers), sorted(numbers)[1:])), default=1)
    moved = [100 * min(one.writing, one.busy) / one.period for one in passed if one.period]
    busy = [100 * (one.share or 0.0) for one in passed]
    shares.bar(numbers, moved, width, color=_DARK, edgecolor="black", linewidth=0.5, label="transfers under way")
    beyond = [max(0.0, all_of_it - part) for all_of_it, part in zip(busy, moved)]
    if any(part > 0.05 for part in beyond):
        shares.bar(numbers, beyond, width, bottom=moved, color="white", edgecolor="black", linewidth=0.5,
                   hatch="////", label="filters alone")
    _mark(shares, passed, busy, "chunks_relaxed", "^", "chunks relaxed")
    _mark(shares, passed, busy, "chunks_skipped", "x", "chunks skipped")
    shares.axhline(100, color="0.5", linewidth=0.8, linestyle="--")
    shares.set_ylim(0, 136)  # room for the legend
    shares.set_yticks(range(0, 101, 20))
    shares.set_ylabel("busy, % of the period")
    shares.legend(loc="upper left", ncols=4)
    unit, name = _unit([one.period or 0.0 for one in passed])
    periods.plot(numbers, [(one.period or 0.0) / unit for one in passed], color="black", marker="o", markersize=3,
                 linewidth=1, label="until the next began")
    periods.plot(numbers, [one.busy / unit for one in passed], color=_DARK, marker="s", markersize=3, linewidth=1,
                 linestyle=":", label="busy")
    periods.set_ylim(0, 1.5 * max(one.period or 0.0 for one in passed) / unit)
    periods.set_ylabel(f"time, {name}")
    periods.set_xlabel("iteration")
    periods.xaxis.set_major_locator(MaxNLocator(integer=True))
    periods.grid(axis="y")
    periods.legend(loc="upper left", ncols=2)
    shares.set_title(_sentence(run))
    figure.suptitle(run.name)
    return figure


def alt(run: Run) -> str:
    """Describes the picture in text, for readers who cannot see it."""
    waited = sum(one.waited for one in run.iterations)
    skipped = sum(one.chunks_skipped > 0 for one in run.iterations)
    return (f"Over {quantity.counted(len(run.iterations), 'iteration')} {_sentence(run)}. The program waited "
            f"{waited:.3g} s for memory; in {skipped} of them chunks were stored uncompressed for lack of time.")


def _sentence(run: Run) -> str:
    return iterations.summary(run.iterations, run.who) or "no iteration has passed"


def _mark(axes: object, passed: list[Iteration], heights: list[float], name: str, marker: str, label: str) -> None:
    at = [(one.number, height) for one, height in zip(passed, heights) if getattr(one, name) > 0]
    if at:
        axes.plot([number for number, _ in at], [height + 4 for _, height in at], color="black",  # type: ignore
                  marker=marker, markersize=4, linestyle="none", label=label)


def _unit(seconds: list[float]) -> tuple[float, str]:
    most = max(seconds)
    return (1.0, "s") if most >= 1 else (1e-3, "ms") if most >= 1e-3 else (1e-6, "µs")
