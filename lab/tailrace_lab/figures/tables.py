"""All tables: the name in the page's mark, the results that it is made of, and its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import of_bars, of_calls, of_patterns
from .documents import Value
from .markdown import caption


@dataclass(frozen=True)
class Table:
    """A table, with the commands of its results above it unless the page names them itself."""

    sources: tuple[str, ...]
    make: Callable[..., str]
    captioned: bool = True

    def markdown(self, documents: dict[str, Value]) -> str:
        """Returns its Markdown; raises FiguresError."""
        of = {name: documents[name] for name in self.sources}
        made = self.make(*of.values())
        return f"{caption(of)}\n\n{made}" if self.captioned else made


TABLES = {
    "readme": Table(("sweep",), of_patterns.readme, captioned=False),
    "sweep": Table(("sweep",), of_patterns.sweep),
    "memory": Table(("memory",), of_patterns.sweep),
    "gain": Table(("sweep", "memory"), of_patterns.gain, captioned=False),
    "ablation": Table(("ablation",), of_patterns.ablation),
    "handover": Table(("handover",), of_calls.handover),
    "open": Table(("core",), of_bars.opening),
    "variables": Table(("variables", "variables_h5py"), of_calls.variables),
    "measuring": Table(("measuring",), of_calls.measuring),
    "growth": Table(("growth",), of_calls.growth),
    "lent": Table(("lent",), of_patterns.lent),
    "core": Table(("core",), of_bars.core),
    "jitter": Table(("jitter",), of_bars.jitter),
    "small": Table(("small",), of_bars.small),
    "small_bars": Table(("small",), of_bars.small_bars, captioned=False),
    "merging": Table(("merging",), of_calls.merging),
    "triad": Table(("triad",), of_patterns.triad),
    "forward": Table(("forward",), of_bars.forward),
    "peers": Table(("peers",), of_patterns.peers),
    "hdf5": Table(("hdf5",), of_patterns.hdf5),
    "mpiio": Table(("mpiio",), of_bars.mpiio),
    "mpiio_computing": Table(("mpiio",), of_bars.mpiio_computing, captioned=False),
    "mpiio_calls": Table(("mpiio",), of_bars.mpiio_calls, captioned=False),
    "mpiio_reading": Table(("mpiio",), of_bars.mpiio_reading, captioned=False),
    "pitz_daily": Table(("pitz_daily",), of_patterns.pitz_daily),
    "cube": Table(("cube",), of_patterns.cube),
}
