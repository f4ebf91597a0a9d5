"""All tables: the name in the page's mark, the results that it is made of, and its function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from . import of_bars, of_calls, of_patterns
from .cells import Grid
from .documents import SOURCES, FiguresError, Value
from .markdown import caption, has_spread, table


Made = TypeVar("Made")


@dataclass(frozen=True)
class Table:
    """A table, with the commands of its results above it unless the page names them itself."""

    name: str
    sources: tuple[str, ...]
    make: Callable[..., Grid]
    captioned: bool = True

    def markdown(self, documents: Mapping[str, Value]) -> str:
        """Returns its Markdown; raises FiguresError, whatever the documents have in them."""
        return self._made(documents, self._markdown)

    def grid(self, documents: Mapping[str, Value]) -> Grid:
        """Returns its cells; raises FiguresError as markdown() does."""
        return self._made(documents, lambda of: self.make(*of.values()))

    def _markdown(self, of: Mapping[str, Value]) -> str:
        grid = self.make(*of.values())
        made = table(grid.head, grid.rows) + grid.after
        return f"{caption(of, has_spread(made))}\n\n{made}" if self.captioned else made

    def _made(self, documents: Mapping[str, Value], make: Callable[[Mapping[str, Value]], Made]) -> Made:
        of = {name: documents[name] for name in self.sources}
        try:
            return make(of)
        except FiguresError:
            raise
        except Exception as error:
            files = " and ".join(document.file for document in of.values())
            results = " and ".join(f"`{SOURCES[name].command}`" for name in of)
            raise FiguresError(f"{files}: found nothing to make the table {self.name!r} of "
                               f"({type(error).__name__}: {error}), expected the result of {results}") from error


TABLES = {table.name: table for table in (
    Table("readme", ("sweep",), of_patterns.readme, captioned=False),
    Table("sweep", ("sweep",), of_patterns.sweep),
    Table("memory", ("memory",), of_patterns.sweep),
    Table("gain", ("sweep", "memory"), of_patterns.gain, captioned=False),
    Table("ablation", ("ablation",), of_patterns.ablation),
    Table("busy", ("busy",), of_bars.busy),
    Table("handover", ("handover",), of_calls.handover),
    Table("open", ("core",), of_bars.opening),
    Table("variables", ("variables", "variables_h5py"), of_calls.variables),
    Table("measuring", ("measuring",), of_calls.measuring),
    Table("growth", ("growth",), of_calls.growth),
    Table("lent", ("lent",), of_patterns.lent),
    Table("core", ("core",), of_bars.core),
    Table("jitter", ("jitter",), of_bars.jitter),
    Table("small", ("small",), of_bars.small),
    Table("small_bars", ("small",), of_bars.small_bars, captioned=False),
    Table("merging", ("merging",), of_calls.merging),
    Table("triad", ("triad",), of_patterns.triad),
    Table("forward", ("forward",), of_bars.forward),
    Table("peers", ("peers",), of_patterns.peers),
    Table("hdf5", ("hdf5",), of_patterns.hdf5),
    Table("mpiio", ("mpiio",), of_bars.mpiio),
    Table("mpiio_computing", ("mpiio",), of_bars.mpiio_computing, captioned=False),
    Table("mpiio_calls", ("mpiio",), of_bars.mpiio_calls, captioned=False),
    Table("mpiio_reading", ("mpiio",), of_bars.mpiio_reading, captioned=False),
    Table("pitz_daily", ("pitz_daily",), of_patterns.pitz_daily),
    Table("cube", ("cube",), of_patterns.cube),
)}
