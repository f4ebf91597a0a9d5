"""The ways to write that the test-bed compares: their names, what the program is told, which model predicts them.

A name is the writer and what differs from its defaults, by hyphens: "sync", "tailrace-write",
"tailrace-alloc-buffered". In results and tables tailrace's have spaces: "tailrace alloc". Holds no state.
"""

from __future__ import annotations

from dataclasses import dataclass

PLAIN = ("none", "sync", "sync-hdf5", "bare", "posix-aio")
VERBS = ("alloc", "write", "borrow")
SWITCHES = {
    "unpinned": ["--pin", "none"],
    "buffered": ["--direct", "off"],
    "malloc": ["--buffers", "malloc"],
    "unaligned": ["--buffers", "unaligned"],
    "throttled": ["--throttle", "auto"],
}
DEFAULT = ("none", "sync", "tailrace-alloc", "tailrace-write")

_SEPARATE = {"malloc": ("borrow",), "unaligned": ("write", "borrow")}  # the verbs that these mean something to


class Unknown(ValueError):
    """A name that names no writer."""


@dataclass(frozen=True)
class Writer:
    """One way to write."""

    name: str  # as --writers has it
    title: str  # as results and tables have it
    arguments: tuple[str, ...]  # for `pattern run`
    copies: bool = False  # somebody copies what is handed over: the limit holds a memcpy an iteration
    model: str | None = None  # that predicts its total; None: no model speaks of it

    @property
    def is_tailrace(self) -> bool:
        """Whether it writes by tailrace."""
        return self.name.startswith("tailrace")


def parse(name: str) -> Writer:
    """The writer of that name; raises Unknown."""
    if name in PLAIN:
        return Writer(name, name, ("--write", name), model="sync" if name == "sync" else None)
    first, *rest = name.split("-")
    if first == "sync" and rest == ["buffered"]:
        return Writer(name, "sync buffered", ("--write", "sync", *SWITCHES["buffered"]))
    if first != "tailrace" or not rest or rest[0] not in VERBS:
        raise Unknown(f"found {name!r}, expected {', '.join(PLAIN)}, sync-buffered, or tailrace-VERB with VERB "
                      f"{', '.join(VERBS)}, and perhaps -{', -'.join(SWITCHES)}")
    verb, *switches = rest
    for switch in switches:
        if switch not in SWITCHES or switches.count(switch) > 1:
            raise Unknown(f"found {switch!r} in {name!r}, expected -{', -'.join(SWITCHES)}, each once at most")
        if verb not in _SEPARATE.get(switch, VERBS):
            raise Unknown(f"found {name!r}: {switch} is for {' and '.join(_SEPARATE[switch])} only")
    if {"malloc", "unaligned"} <= set(switches):
        raise Unknown(f"found {name!r}: a buffer is malloc'ed or unaligned, not both")
    arguments = [argument for switch in switches for argument in SWITCHES[switch]]
    # The server copies arrays that are lent from addresses which no direct transfer can use.
    copies = verb == "write" or bool({"malloc", "unaligned"} & set(switches))
    return Writer(name, " ".join([first, *rest]), ("--write", "tailrace", "--verb", verb, *arguments),
                  copies=copies, model=_model(verb, switches))


def _model(verb: str, switches: list[str]) -> str | None:
    # W is measured with aligned blocks that bypass the page cache as fast as they can, from memory touched before.
    if set(switches) & {"buffered", "malloc", "unaligned", "throttled"}:
        return None
    return "model2_copy" if verb == "write" else "model2"


@dataclass(frozen=True)
class Rung:
    """A step of the ablation, and the writer that takes it."""

    name: str
    writer: str


# Seed 000's ladder, §4.2. The last word of each pair after the first rung is what tailrace does by default; the same
# writer may stand on several rungs, and is then run once a round.
LADDER = (
    Rung("naive (posix-aio)", "posix-aio"),
    Rung("unpinned", "tailrace-alloc-unpinned"),
    Rung("pinned", "tailrace-alloc"),
    Rung("unaligned borrow", "tailrace-borrow-unaligned"),
    Rung("aligned borrow", "tailrace-borrow"),
    Rung("malloc each iteration", "tailrace-borrow-malloc"),
    Rung("pool", "tailrace-alloc"),
    Rung("buffered", "tailrace-alloc-buffered"),
    Rung("direct", "tailrace-alloc"),
)
