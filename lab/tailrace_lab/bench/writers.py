"""The ways to write that the test-bed compares: their names, the program's arguments, and the models that predict
them.

A name is the writer and its differences from the defaults, joined by hyphens: "sync", "tailrace-write",
"tailrace-alloc-buffered". In results and tables tailrace's names have spaces: "tailrace alloc". It holds no state.
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
    "forwarded": [],  # by a forwarder on this machine, over TCP with TLS
}
DEFAULT = ("none", "sync", "tailrace-alloc", "tailrace-write")

_SEPARATE = {"malloc": ("borrow",), "unaligned": ("write", "borrow")}  # the verbs to which these apply


class Unknown(ValueError):
    """A name that is not a writer's."""


@dataclass(frozen=True)
class Writer:
    """One way to write."""

    name: str  # as in --writers
    title: str  # as in results and tables
    arguments: tuple[str, ...]  # for `pattern run`
    copies: bool = False  # what is handed over is copied: the limit includes a memcpy for each iteration
    model: str | None = None  # predicts its total; None: no model does
    forwarded: bool = False  # by a forwarder

    @property
    def is_tailrace(self) -> bool:
        """Returns True if it writes with tailrace."""
        return self.name.startswith("tailrace")


def parse(name: str) -> Writer:
    """Returns the writer of that name; raises Unknown."""
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
    # The server copies lent arrays whose addresses no direct transfer can use.
    copies = verb == "write" or bool({"malloc", "unaligned"} & set(switches))
    return Writer(name, " ".join([first, *rest]), ("--write", "tailrace", "--verb", verb, *arguments),
                  copies=copies, model=_model(verb, switches),
                  forwarded="forwarded" in switches)


def _model(verb: str, switches: list[str]) -> str | None:
    # W is measured with aligned blocks that bypass the page cache as fast as they can, from memory touched before.
    if set(switches) & {"buffered", "malloc", "unaligned", "throttled", "forwarded"}:
        return None
    return "model2_copy" if verb == "write" else "model2"


@dataclass(frozen=True)
class Rung:
    """A step of the ablation, and its writer."""

    name: str
    writer: str


# Sid Lakhdar 2017's ladder, §4.2. The last word of each pair after the first rung is tailrace's default. The same
# writer may be on several rungs, and then runs once a round.
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
