"""A run from its traces: what the program did when, the course of each block, and the use of memory.

It reads the Chrome trace JSON that libtailrace and the pattern program write, and merges several files of one run.
Times are seconds from the first event. Draws nothing.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .fault import PictureError

VERSION = 1
PROGRAM = ("compute", "handover", "wait")
_BLOCK = ("queued", "writing")
# Hand-overs of memory into which the program computes again, and which is not free before it is written. `write`
# copies: the program's memory is free when it returns. Committed memory belongs to the pool: the next block has other
# memory.
_GIVES = ("borrow", "sync")
_COPIES = ("write",)


@dataclass(frozen=True)
class Span:
    """An activity of the program."""

    kind: str
    name: str
    begin: float
    end: float
    variable: str | None
    iteration: int | None


@dataclass
class Block:
    """A block that a writer had to write; `math.inf` if the trace ends before."""

    variable: str
    iteration: int | None
    queued: float
    writing: float = math.inf
    written: float = math.inf


@dataclass(frozen=True)
class Shield:
    """A potential shield time: from the end of the hand-over until the memory is needed again."""

    variable: str
    iteration: int
    begin: float
    needed: float
    written: float  # `math.inf` if unknown

    @property
    def excess(self) -> float:
        """Returns how much longer writing took."""
        return max(0.0, self.written - self.needed) if math.isfinite(self.written) else 0.0


@dataclass
class Trace:
    """One run."""

    spans: list[Span] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    counters: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    end: float = 0.0
    dropped: int = 0
    program: str = ""

    def variables(self) -> list[str]:
        """Returns the variables in the order of their first appearance."""
        ordered = sorted((span.begin, span.variable) for span in self.spans if span.variable)
        names = [name for _, name in ordered] + [block.variable for block in self.blocks]
        return list(dict.fromkeys(names))

    def starts(self) -> dict[int, float]:
        """Returns when each iteration began."""
        found: dict[int, float] = {}
        for span in self.spans:
            if span.iteration is not None and span.kind != "wait":
                found[span.iteration] = min(found.get(span.iteration, math.inf), span.begin)
        return dict(sorted(found.items()))

    def of(self, kind: str) -> list[Span]:
        """Returns the program's activities of one kind."""
        return [span for span in self.spans if span.kind == kind]

    def shields(self, copied: bool = False) -> list[Shield]:
        """Returns a shield time for each hand-over whose memory is needed again; with `copied`, also for those that
        copy, as if they lent the memory."""
        given: dict[tuple[str, int], float] = {}
        needs: dict[tuple[str, int], float] = {}
        # Without the program's own trace, it is unknown when it computes which variable: the next hand-over is the
        # latest moment.
        kind = "compute" if any(span.kind == "compute" and span.variable for span in self.spans) else "handover"
        for span in self.spans:
            if span.variable is None or span.iteration is None:
                continue
            key = (span.variable, span.iteration)
            if span.kind == "handover" and span.name.startswith(_GIVES + _COPIES if copied else _GIVES):
                given[key] = max(given.get(key, 0.0), span.end)
            if span.kind == kind:
                needs[key] = min(needs.get(key, math.inf), span.begin)
        written: dict[tuple[str, int | None], float] = {}
        for block in self.blocks:
            at = (block.variable, block.iteration)
            written[at] = max(written.get(at, 0.0), block.written)
        return [Shield(*key, begin, needs[key[0], key[1] + 1], written.get(key, math.inf))
                for key, begin in sorted(given.items(), key=lambda one: one[1]) if (key[0], key[1] + 1) in needs]


def is_trace(document: Any) -> bool:
    """Returns True if a JSON document looks like a trace."""
    return isinstance(document, dict) and "traceEvents" in document


def process(document: dict[str, Any]) -> int | None:
    """Returns the program of a trace."""
    events = document["traceEvents"] if isinstance(document["traceEvents"], list) else []
    return next((event["pid"] for event in events if isinstance(event, dict) and event.get("cat") in PROGRAM
                 and isinstance(event.get("pid"), int)), None)


def read(files: Sequence[tuple[pathlib.Path, dict[str, Any]]]) -> Trace:
    """Merges the traces of one run."""
    whole, owners = Trace(), set()
    writers: list[tuple[bool, list[Block]]] = []
    for path, document in files:
        _check(path, document)
        other = document["otherData"]
        counts = {"dropped_events": 0, **other}
        whole.dropped += int(_number(f"{path}: otherData", counts, "dropped_events", "a count"))
        part = Trace()
        owners |= _events(path, document["traceEvents"], part)
        whole.spans += part.spans
        computes = any(span.kind == "compute" for span in part.spans)
        if computes or not whole.program:
            whole.program = str(other.get("program") or "")
        writers.append((computes, part.blocks))
        for name, values in part.counters.items():
            # If two files have the same counter, the library's is more exact.
            if name not in whole.counters or not computes:
                whole.counters[name] = values
    if len(owners) > 1:
        raise PictureError(", ".join(str(path) for path, _ in files), f"programs of processes {sorted(owners)} in "
                                                                      "it; "
                           "expected the trace of one run")
    # Blocks are treated alike.
    whole.blocks = next((blocks for computes, blocks in sorted(writers, key=lambda one: one[0]) if blocks), [])
    if not whole.spans and not whole.blocks:
        raise PictureError(", ".join(str(path) for path, _ in files), "no event of a program or a writer in it; "
                                                                      "expected "
                           f"categories {', '.join(PROGRAM + _BLOCK)}")
    _from_zero(whole)
    return whole


def _check(path: pathlib.Path, document: dict[str, Any]) -> None:
    other = document.get("otherData")
    version = other.get("tailrace_trace") if isinstance(other, dict) else None
    if version is None:
        raise PictureError(path, 'no "tailrace_trace" in "otherData": a trace, but not ours; expected one that '
                                 'tailrace '
                                 "or its pattern program wrote")
    if version != VERSION:
        raise PictureError(path, f"otherData.tailrace_trace is {version}: a trace of another version; expected "
                                 f"{VERSION}")
    if not isinstance(document["traceEvents"], list):
        raise PictureError(path, "traceEvents is not a list; expected the list of events")


def _events(path: pathlib.Path, events: list[Any], trace: Trace) -> set[int]:
    """Adds the events of one file; returns the processes that have a program."""
    owners: set[int] = set()
    blocks: dict[Any, Block] = {}
    for number, event in enumerate(events):
        where = f"{path}: traceEvents[{number}]"
        if not isinstance(event, dict) or not isinstance(event.get("ph"), str):
            raise PictureError(where, 'no event; expected an object with "ph"')
        phase, kind = event["ph"], event.get("cat")
        about = _about(where, event)
        if phase == "X" and kind in PROGRAM:
            begin = _number(where, event, "ts")
            duration = _number(where, event, "dur")
            if duration < 0:
                raise PictureError(where, f'"dur" is {duration!r}; expected 0 or more microseconds')
            trace.spans.append(Span(kind, str(event.get("name", "")), begin, begin + duration, about.get("variable"),
                                    about.get("iteration")))
            owners.add(int(_number(where, event, "pid", "a process")))
        elif phase in "be" and kind in _BLOCK:
            _block(blocks, event, phase + kind[0], _number(where, event, "ts"), about)
        elif phase == "C":
            for key in about:
                values = trace.counters.setdefault(str(event.get("name")), [])
                values.append((_number(where, event, "ts"), _number(where, about, key, "a number")))
    trace.blocks = list(blocks.values())
    return owners


def _block(blocks: dict[Any, Block], event: dict[str, Any], step: str, at: float, about: dict[str, Any]) -> None:
    """Adds one step of a block's course: bq, eq, bw, ew. Omits blocks that began before the trace."""
    key = (str(event.get("pid")), str(event.get("id")))
    if step in ("bq", "bw") and key not in blocks:
        blocks[key] = Block(str(about.get("variable", event.get("name", "?"))), about.get("iteration"), at)
    if key in blocks and step == "bw":
        blocks[key].writing = at
    elif key in blocks and step == "ew":
        blocks[key].written = at


def _about(where: str, event: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of an event."""
    about = event.get("args") or {}
    if not isinstance(about, dict):
        raise PictureError(where, f'"args" is {about!r}; expected an object')
    for name, kind, expected in (("variable", str, "a name"), ("iteration", int, "a whole number")):
        if about.get(name) is not None and not isinstance(about[name], kind):
            raise PictureError(where, f'"{name}" is {about[name]!r}; expected {expected}')
    return about


_MOST = 1e300  # largest number: JSON's integers may be larger than a float


def _number(where: str, event: dict[str, Any], name: str, expected: str = "a number of microseconds") -> float:
    value = event.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= _MOST:
        raise PictureError(where, f'"{name}" is {value!r}; expected {expected}')
    return float(value)


def _from_zero(trace: Trace) -> None:
    """Converts microseconds of a clock to seconds of the run."""
    starts = [span.begin for span in trace.spans] + [block.queued for block in trace.blocks]
    zero = min(starts)

    def seconds(at: float) -> float:
        return (at - zero) / 1e6

    spans = [replace(span, begin=seconds(span.begin), end=seconds(span.end)) for span in trace.spans]
    blocks = [replace(block, queued=seconds(block.queued), writing=seconds(block.writing),
                      written=seconds(block.written)) for block in trace.blocks]
    trace.spans = sorted(spans, key=lambda span: span.begin)
    trace.blocks = sorted(blocks, key=lambda block: block.queued)
    trace.counters = {name: sorted((seconds(at), value) for at, value in values)
                      for name, values in trace.counters.items()}
    ends = [span.end for span in trace.spans]
    ends += [at for block in trace.blocks for at in (block.queued, block.written) if math.isfinite(at)]
    trace.end = max(ends)


def joined(intervals: Iterable[tuple[float, float]], gap: float = 0.0) -> list[tuple[float, float]]:
    """Returns (begin, end) in order, without overlaps; joins those closer than `gap`."""
    result: list[tuple[float, float]] = []
    for begin, end in sorted(intervals):
        if result and begin <= result[-1][1] + gap:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((begin, end))
    return result


def computing(trace: Trace) -> list[tuple[float, float]]:
    """Returns when the program computed; without computations in the trace, whenever it did nothing else."""
    said = joined((span.begin, span.end) for span in trace.of("compute"))
    if said or not trace.spans:
        return said
    busy = joined((span.begin, span.end) for span in trace.spans)
    return [(before[1], after[0]) for before, after in zip(busy, busy[1:]) if after[0] > before[1]]
