"""The effect of merging on small requests: for each file how many requests there were of each size, and how many
accesses of storage.

It has a panel for each file; hatched bars are requests, dark ones accesses. Both axes are logarithmic: a million
requests of 4 KiB stand beside sixteen accesses of 8 MiB.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailrace import quantity
from tailrace.files import File

_DARK = "#2f6690"
_MOST = 6  # panels
_LONGEST = 40  # letters of a name


def shown(files: Sequence[File]) -> list[File]:
    """Returns the files that get a panel: those with the most requested bytes."""
    used = [one for one in files if one.before.count]
    return sorted(used, key=lambda one: -one.before.bytes)[:_MOST]


def draw(name: str, files: Sequence[File]) -> Figure:
    """Draws all panels, on common axes."""
    panels = shown(files)
    figure = Figure(figsize=(7.0, 0.7 + 1.9 * len(panels)))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    sizes = sorted({least for one in panels for of in (one.before, one.after) for least in of.histogram})
    first, last = (size.bit_length() - 1 for size in (sizes[0], sizes[-1]))
    for one, panel in zip(panels, axes):
        _panel(panel, one)
        panel.set_title(f"{_short(one.name)}: {_sentence(one)}")
        panel.text(0.01, 0.95, _spared(one), transform=panel.transAxes, va="top", fontsize=8)
    step = max(1, (last - first) // 8)
    ticks = range(first, last + 1, step)
    axes[-1].set_xticks(list(ticks), [quantity.format_size(2**tick) for tick in ticks])
    axes[-1].set_xlim(first - 0.7, last + 0.7)
    axes[-1].set_xlabel("from this size to twice as much")
    axes[0].legend(loc="upper right", ncols=2)
    figure.suptitle(name)
    return figure


def alt(files: Sequence[File]) -> str:
    """Describes the picture in text, for readers who cannot see it."""
    return " ".join(f"{one.name}: {', '.join(filter(None, (_sentence(one), _spared(one))))}." for one in shown(files))


def _panel(axes: Axes, one: File) -> None:
    bars = ((one.before, -0.2, {"color": "white", "hatch": "////", "label": "requests"}),
            (one.after, 0.2, {"color": _DARK, "label": "accesses of storage"}))
    for of, shift, look in bars:
        at = [least.bit_length() - 1 + shift for least in of.histogram]
        axes.bar(at, list(of.histogram.values()), 0.4, edgecolor="black", linewidth=0.5, **look)  # type: ignore
    axes.set_yscale("log")
    axes.set_ylim(0.5, 20 * max([1, *one.before.histogram.values(), *one.after.histogram.values()]))
    axes.set_ylabel("how many")


def _sentence(one: File) -> str:
    requests = quantity.counted(one.before.count, "request")
    return (f"{requests} of {quantity.format_size(one.before.mean)} became {one.after.count} "
            f"access{'' if one.after.count == 1 else 'es'} of {quantity.format_size(one.after.mean)}")


def _spared(one: File) -> str:
    spared = ((one.bytes_overwritten, "overwritten before they left"), (one.bytes_from_memory, "read from memory"),
              (one.bytes_sieved, "read for nothing"))
    return ", ".join(f"{quantity.format_size(count)} {words}" for count, words in spared if count)


def _short(name: str) -> str:
    """Shortens a long path to its end."""
    return name if len(name) <= _LONGEST else "…" + name[1 - _LONGEST:]
