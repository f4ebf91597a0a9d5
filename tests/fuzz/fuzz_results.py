"""Fuzz target for everything that the Python package reads: result files, traces, tables of write times, and
quantities.

The first byte of an input says what the rest is: 0 a JSON file, 1 a CSV file, 2 the text of a quantity. Properties: a
wrong input is one error of ours with a printable message; an accepted result, when written, reads back equal; a trace
has finite times, and nothing ends before it begins; all figures of write times are finite.

Run as a script it fuzzes with Atheris (libFuzzer's options and corpora as arguments); `check` alone needs no Atheris.
"""

from __future__ import annotations

import json
import math
import pathlib
import random as random_numbers
import sys
import tempfile
from typing import Any

try:
    import atheris
except ImportError:
    atheris = None

KINDS = (".json", ".csv", "quantity")

_folder = tempfile.TemporaryDirectory(prefix="tailrace_fuzz_")
_path = pathlib.Path(_folder.name)


def check(data: bytes) -> None:
    """Checks one input; an AssertionError, or any other exception, is a bug."""
    kind = KINDS[data[0] % len(KINDS)] if data else KINDS[0]
    if kind == "quantity":
        _check_quantity(data[1:])
        return
    from tailrace.pictures import own_kinds, source
    from tailrace.pictures.fault import PictureError
    from tailrace_lab.pictures import kinds

    file = _path / f"input{kind}"
    file.write_bytes(data[1:])
    try:
        found = source.read(file)
        if isinstance(found.kind, own_kinds.Trace):
            _check_trace(found)
    except PictureError as error:
        _require_printable(str(error))
        return
    if found.kind is kinds.RESULT:
        _check_result(found.data)
    if found.kind is kinds.WRITE_TIMES:
        _check_times(found.data.runs)


def _require_printable(message: str) -> None:
    assert message
    message.encode("utf-8")


def _check_result(document: dict[str, object]) -> None:
    from tailrace_lab.bench import result

    again = _path / "again.json"
    result.validate(document).save(again)
    assert result.load(again).document == document
    for point in result.load(again).points:
        for series in point["series"].values():
            for numbers in series.get("summary", {}).values():
                assert all(math.isfinite(float(numbers[key])) for key in result.SUMMARY)


def _check_trace(found: object) -> None:
    from tailrace.pictures import trace

    run = trace.read([(found.path, found.data)])
    assert math.isfinite(run.end)
    for span in run.spans:
        assert 0 <= span.begin <= span.end and math.isfinite(span.end)
    for shield in run.shields():
        assert shield.excess >= 0
    trace.computing(run)
    run.variables()
    run.starts()


def _check_times(runs: list[object]) -> None:
    for run in runs:
        assert math.isfinite(run.throughput) and run.throughput >= 0
        assert -1e-9 <= run.wasted <= 1


def _check_quantity(data: bytes) -> None:
    from tailrace import quantity

    text = data.decode("utf-8", errors="surrogateescape")
    for parse, show in ((quantity.parse_size, quantity.format_size), (quantity.parse_time, quantity.format_time),
                        (quantity.parse_rate, quantity.format_rate)):
        try:
            value = parse(text)
        except quantity.QuantityError as error:
            _require_printable(str(error))
            continue
        assert math.isfinite(value)
        assert show(value)


# Replacements for a value.
ODD = (None, True, "", "v0", "\ud800", "\x1b[31m", 0, -1, 1, 2, 0.5, 1e308, -1e308, 10**400, [], {}, [1, 1], {"a": 1})


def mutate(data: bytes, random: random_numbers.Random) -> bytes:
    """Returns another input: of JSON, with a changed, missing or duplicated value; otherwise with other bytes."""
    try:
        document = json.loads(data[1:])
    except (ValueError, RecursionError):
        return _mutate_bytes(data, random)
    holder, key = random.choice(_places(document) or [(None, None)])
    if holder is None:
        return data[:1] + json.dumps(random.choice(ODD)).encode()
    what = random.randrange(4)
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, list):
        holder.insert(key, holder[key])
    else:
        holder[key] = random.choice(ODD)
    return data[:1] + json.dumps(document, separators=(",", ":")).encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Returns the places of values, each as its holder and its key; no deeper than in our documents."""
    found: list[tuple[Any, Any]] = []
    todo = [(value, 0)]
    while todo:
        one, depth = todo.pop()
        if depth > 20 or not isinstance(one, (dict, list)):
            continue
        for key in list(one) if isinstance(one, dict) else range(len(one)):
            found.append((one, key))
            todo.append((one[key], depth + 1))
    return found


def _mutate_bytes(data: bytes, random: random_numbers.Random) -> bytes:
    changed = bytearray(data or b"\0")
    for _ in range(random.randint(1, 4)):
        at = random.randrange(1, len(changed) + 1)
        piece = random.choice((b"", b"-", b"e", b"9", b",", b'"', b"\n", b"nan", b"\xff"))
        changed[at:at + random.randrange(3)] = piece
    return bytes(changed)


def _mutate_for_libfuzzer(data: bytes, most: int, seed: int) -> bytes:
    random = random_numbers.Random(seed)
    changed = mutate(data, random) if random.random() < 0.7 else atheris.Mutate(data, most)
    return changed if len(changed) <= most else data[:most]


def main() -> None:
    """Fuzzes until it is stopped."""
    if atheris is None:
        sys.exit("fuzz_results: found no atheris, expected the package of that name (pip install atheris)")
    with atheris.instrument_imports(include=["tailrace", "tailrace_lab"]):
        from tailrace import quantity  # noqa: F401
        from tailrace.pictures import source  # noqa: F401
        from tailrace_lab.bench import result  # noqa: F401
        from tailrace_lab.pictures import kinds  # noqa: F401
    atheris.Setup(sys.argv, check, custom_mutator=_mutate_for_libfuzzer)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
