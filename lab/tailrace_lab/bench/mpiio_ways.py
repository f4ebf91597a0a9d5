"""The ways to write by MPI-IO that `tailrace bench mpiio` compares: an MPI alone, and tailrace over it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MPIS = ("mpich", "openmpi")
PLACES = ("thread", "core")
COLLECTIVES = ("auto", "two_phase", "dynamic", "static", "individual")
AGGREGATORS = ("ranks", "node")

AUTO = "auto"
TUNE = "tune"  # by what trials have shown
_NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}
_WITH_AGGREGATORS = ("two_phase", "dynamic", "static")
_COLLECTIVE_HINT, _AGGREGATORS_HINT = "tailrace_collective", "tailrace_aggregators"
# ROMIO decides by itself whether a collective write gathers pieces, unless a hint says so.
_ROMIO = "romio_cb_write"


@dataclass(frozen=True)
class Way:
    """One way. Without a place, it is the MPI alone."""

    mpi: str
    place: str = ""
    collective: str = ""
    aggregators: str = ""
    romio: str = ""  # for MPICH alone: "enable" or "disable"

    @property
    def title(self) -> str:
        """Returns its name for people."""
        if not self.place:
            return _NAMES[self.mpi] + (f", {_ROMIO}={self.romio}" if self.romio else "")
        words = [f"tailrace over {_NAMES[self.mpi]}", self.place, self.collective, self.aggregators]
        return ", ".join(word for word in words if word)

    @property
    def is_plain(self) -> bool:
        """Returns True for an MPI alone that was told nothing."""
        return not self.place and not self.romio

    @property
    def hints(self) -> tuple[str, ...]:
        """Returns the program's options for MPI_Info. An MPI ignores those that it does not know."""
        given = {_COLLECTIVE_HINT: self.collective, _AGGREGATORS_HINT: self.aggregators, _ROMIO: self.romio}
        return tuple(word for key, value in given.items() if value for word in ("--hint", f"{key}={value}"))


def alone(mpis: Iterable[str], tuned: bool) -> list[Way]:
    """Returns the MPIs alone; with `tuned`, also MPICH with and without collective buffering."""
    ways = [Way(mpi) for mpi in mpis]
    told = [Way("mpich", romio=word) for word in ("enable", "disable")]
    return ways + (told if tuned and Way("mpich") in ways else [])


def carried(mpis: Iterable[str], places: Sequence[str], collectives: Sequence[str],
            aggregators: Sequence[str]) -> list[Way]:
    """Returns tailrace over each MPI, in each place, with each algorithm and each kind of aggregator it has."""
    return [Way(mpi, place, collective, kind) for mpi in mpis for place in places for collective in collectives
            for kind in (aggregators if collective in _WITH_AGGREGATORS else ("",))]


def of_one_piece(ways: Sequence[Way]) -> list[Way]:
    """Returns the ways of tailrace that differ if each rank writes one piece, or is alone: without its aggregators
    and trials, if there are others."""
    return [way for way in ways if way.collective not in (*_WITH_AGGREGATORS, TUNE)] or list(ways)
