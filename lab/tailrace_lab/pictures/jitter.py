"""The study of jitter (`tailrace bench jitter --json`) in the report: where it ran, each cell's figures, and the
conclusions. tiles.py draws its tiles, as for any write times. Makes text, and escapes all words from files.
"""

from __future__ import annotations

import pathlib
from typing import Any

from tailrace import quantity
from tailrace.pictures import frame
from tailrace.pictures.fault import PictureError

from ..bench import steal

Study = dict[str, Any]

_TIMES = ("mean", "worst", "spread", "phase_mean", "phase_worst")
_RATES = ("throughput_seen", "throughput_run")
_COLUMNS = ("mean", "worst", "spread", "phase, mean", "phase, worst", "seen by the simulation",
            "of the whole run", "filters relaxed, %")


def is_study(document: Any) -> bool:
    """Returns True if the document is such a study, and not other write times."""
    return isinstance(document, dict) and "tailrace_jitter" in document


def check(path: pathlib.Path, document: Study) -> Study:
    """Raises PictureError unless it has this version and can be shown."""
    if document["tailrace_jitter"] != 1:
        raise PictureError(path, f"tailrace_jitter: found {document['tailrace_jitter']!r}, expected 1: the file is "
                                 "of another version of the format")
    if not isinstance(document.get("cells"), list):
        raise PictureError(path, f"cells: found {document.get('cells')!r}, expected a list")
    for key in steal.keys(_object(document, "steal")) if "steal" in document else ():
        _check_number(path, document["steal"], "steal", key)
    for number, cell in enumerate(document["cells"]):
        for key in (*_TIMES, *_RATES, "chunks", "chunks_less", "bytes"):
            _check_number(path, cell, f"cells[{number}]", key)
        for key in ("way", "experiment"):
            if not isinstance(cell.get(key), str):
                raise PictureError(path, f"cells[{number}].{key}: found {cell.get(key)!r}, expected a text")
    return document


def _check_number(path: pathlib.Path, entry: Any, place: str, key: str) -> None:
    value = entry.get(key) if isinstance(entry, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e200:
        raise PictureError(path, f"{place}.{key}: found {value!r}, expected a number, 0 or more")


def sentences(study: Study) -> list[str]:
    """Compares place core with each other way: the worst write time, where both wrote the same."""
    found = []
    cells = {(cell["way"], *_case(cell)): cell for cell in study["cells"]}
    for way in dict.fromkeys(cell["way"] for cell in study["cells"] if cell["way"] != "core"):
        pairs = [(cell, cells["core", *_case(cell)]) for cell in study["cells"]
                 if cell["way"] == way and ("core", *_case(cell)) in cells]
        ratios = sorted(theirs["worst"] / core["worst"] for theirs, core in pairs if core["worst"] > 0)
        if ratios:
            found.append(f"Beside place core, the slowest output of {way} took {_factor(ratios[0])} to "
                         f"{_factor(ratios[-1])} as long, over {len(ratios)} cells.")
    found += steal.told(study.get("steal", {}))
    return found + [f"Not measured: {one.get('what')}: {one.get('why')}." for one in _missing(study)]


def facts(study: Study) -> str:
    """Returns what ran, and where."""
    machine, settings = _object(study, "machine"), _object(study, "settings")
    memory = machine.get("memory_bytes")
    parts = [machine.get("cpu"), f"{machine['cpus']} CPUs" if machine.get("cpus") else None,
             quantity.format_size(memory) if isinstance(memory, (int, float)) else None, machine.get("os"),
             machine.get("kernel")]
    work = [f"{settings[key]} {key}" for key in ("processes", "iterations") if key in settings]
    rate = settings.get("load_bytes_per_second")
    return frame.facts([("command", study.get("command")), ("made", study.get("created")),
                         ("tailrace", study.get("tailrace")),
                         ("machine", ", ".join(str(one) for one in parts if one)), ("work", ", ".join(work)),
                         ("fio wrote", quantity.format_rate(rate) if isinstance(rate, (int, float)) else None)])


def table(study: Study) -> str:
    """Returns a line for each cell."""
    rows = []
    for cell in study["cells"]:
        less = f"{100 * cell['chunks_less'] / cell['chunks']:.0f}" if cell["chunks"] else "–"
        rows.append(frame.row(cell["experiment"], [*(quantity.format_time(cell[key]) for key in _TIMES),
                                                    *(quantity.format_rate(cell[key]) for key in _RATES), less]))
    return frame.table(["", *_COLUMNS], rows,
                        "Write times of the processes as the simulation sees them; a phase lasts from the first "
                        "process's begin to the last one's end. Throughput: all bytes by that time, and by the time "
                        "of the whole run")


def _case(cell: dict[str, Any]) -> tuple[Any, ...]:
    return cell["bytes"], cell.get("compress"), cell.get("load")


def _factor(ratio: float) -> str:
    return f"{ratio:.1f}×" if ratio < 100 else f"{ratio:.0f}×"


def _missing(study: Study) -> list[dict[str, Any]]:
    missing = study.get("missing")
    return [one for one in missing if isinstance(one, dict)] if isinstance(missing, list) else []


def _object(study: Study, key: str) -> dict[str, Any]:
    value = study.get(key)
    return value if isinstance(value, dict) else {}
