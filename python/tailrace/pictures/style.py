"""The style of all pictures, and their conversion to files: one set of fonts, lines, markers, greys and hatches.

They must survive a black-and-white printer, so no two things differ by colour alone. It knows matplotlib, but no
data.
"""

from __future__ import annotations

import contextlib
import io
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from .fault import PictureError

FORMATS = ("png", "svg")
DPI = 150

_SETTINGS: dict[str, Any] = {
    "font.size": 9, "axes.titlesize": 9.5, "axes.titlelocation": "left", "axes.labelsize": 9, "legend.fontsize": 8,
    "xtick.labelsize": 8.5, "ytick.labelsize": 8.5, "figure.titlesize": 11, "figure.titleweight": "bold",
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "legend.frameon": False,
    "hatch.linewidth": 0.6, "grid.color": "0.88", "grid.linewidth": 0.6, "figure.constrained_layout.use": True,
    # Always white, like paper, whatever the user's matplotlib settings are.
    "figure.facecolor": "white", "savefig.facecolor": "white", "axes.facecolor": "white",
    # The same data give the same bytes.
    "svg.hashsalt": "tailrace", "svg.fonttype": "path",
}


@dataclass(frozen=True)
class Look:
    """The look of one writer in all pictures."""

    color: str
    marker: str
    face: str  # of the marker; "white" makes it hollow
    hatch: str


# Near Okabe and Ito's colours, from dark to light; marker, filling and hatch distinguish them without colour.
_LOOKS = (
    Look("#000000", "o", "white", ""), Look("#0072B2", "s", "#0072B2", "////"), Look("#D55E00", "^", "white", "...."),
    Look("#009E73", "D", "#009E73", "xxxx"), Look("#CC79A7", "v", "white", "----"),
    Look("#E69F00", "P", "#E69F00", "++"), Look("#56B4E9", "X", "white", "\\\\\\\\"),
    Look("#7F7F7F", "*", "#7F7F7F", "||||"),
)


def looks(names: Iterable[str]) -> dict[str, Look]:
    """Returns a look for each name; the synchronous run is always black and hollow, so that pictures compare."""
    ordered = sorted(dict.fromkeys(names), key=lambda name: name != "sync")
    first = 0 if "sync" in ordered else 1
    return {name: _LOOKS[(first + k) % len(_LOOKS)] for k, name in enumerate(ordered)}


@contextlib.contextmanager
def applied() -> Iterator[None]:
    """Pictures that are drawn and saved inside have our style, not the user's."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)  # type: ignore[arg-type]
        yield


def bare(axes: Axes) -> None:
    """Removes all axes but that of time, for lanes and tiles."""
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)


def plain_log(axis: Any, values: Iterable[float]) -> None:
    """Sets a logarithmic axis with labels 0.1, 0.2, 0.5, 1 …, not powers; fewer labels over many decades."""
    known = [value for value in values if value > 0]
    wide = bool(known) and max(known) > 500 * min(known)
    axis.set_major_locator(LogLocator(10, subs=(1.0,) if wide else (1.0, 2.0, 5.0), numticks=30))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def watermark(figure: Figure) -> None:
    """Marks a picture of a quick run, so that it is not taken for a measurement."""
    words = "quick run: not a measurement"
    width, height = figure.get_size_inches()
    # A letter is about half as wide as high.
    size = min(0.75 * 72 * width / (0.5 * len(words)), 72 * height / 4)
    figure.text(0.5, 0.5, words, ha="center", va="center", rotation=20, fontsize=size, fontweight="bold",
                color="0.35", alpha=0.3, zorder=1000)


def encode(figure: Figure, kind: str) -> bytes:
    """Returns the content of a file of `kind` with the figure."""
    buffer = io.BytesIO()
    metadata: Mapping[str, Any] = {"Date": None} if kind == "svg" else {"Software": "tailrace"}
    with applied():
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=dict(metadata))
    return buffer.getvalue()


def make_directory(path: pathlib.Path) -> None:
    """Creates the directory if it does not exist."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PictureError(path, f"{error.strerror}; expected a directory, or a place to make one") from error


def write(path: pathlib.Path, content: bytes) -> None:
    """Writes a whole file."""
    try:
        path.write_bytes(content)
    except OSError as error:
        raise PictureError(path, f"cannot be written: {error.strerror}; expected a place that one may write to"
                           ) from error
