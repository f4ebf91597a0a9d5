"""The output of `tailrace predict`: tables and a sentence for people, one document for programs.

It calls the models and prints their results; every number that it prints is in the document, too.
"""

from __future__ import annotations

from typing import Any

from tailrace import quantity
from tailrace.models import advice as models
from tailrace.models import core, pipeline, shield
from tailrace.models.advice import Advice, Crossover, Setting

from . import output
from .predict_input import Task

_AXES = {"C/W": "C/W", "bytes": "bytes", "cores": "cores", "slowdown": "slow-down"}


def document(task: Task) -> dict[str, Any]:
    """Returns everything, for programs."""
    found: dict[str, Any] = {"tailrace_prediction": 1}
    if task.setting:
        found |= _whole(task, task.setting)
    if task.variables:
        found["shield"] = _shield(task)
    return found


def print_all(task: Task) -> None:
    """Prints everything, for people."""
    if task.setting:
        _print_whole(task, task.setting)
    if task.variables:
        if task.setting:
            print()
        _print_shield(task)


# ---- for programs -----------------------------------------------------------------------------------------


def _whole(task: Task, s: Setting) -> dict[str, Any]:
    advice = models.advise(s, task.places)
    intervals = models.intervals(task.spread)
    found = {
        "input": {"iterations": s.n, "bytes": task.bytes, "compute_seconds": s.c, "write_seconds": s.w,
                  "sync_write_seconds": s.synchronous_w, "request_seconds": s.req, "copy_seconds": s.copy,
                  "devices": s.devices, "variables": s.variables, "slowdown": s.slowdown, "cores": s.cores,
                  "c_over_w": s.c / s.w},
        "limit_seconds": advice.limit,
        "models": {"sync": pipeline.sync(s.n, s.c, s.synchronous_w),
                   "model1": pipeline.model1(s.n, s.c, s.w),
                   "model2": pipeline.model2(s.n, s.c, s.w, s.variables * s.req),
                   "model3": pipeline.model3(s.n, s.c, s.w, s.devices),
                   "model2_copy": pipeline.with_copy(s.n, s.c, s.w, s.variables * s.req, s.copy)},
        "predictions": [{"place": one.place, "verb": one.verb or None, "seconds": one.seconds,
                         "waiting_seconds": one.waiting, "gain": one.gain, "to_limit": one.to_limit,
                         "interval_seconds": intervals.get((one.place, one.verb))}
                        for one in advice.predictions],
        "advice": {"place": advice.take.place, "verb": advice.take.verb or None, "gain": advice.take.gain,
                   "quickest": {"place": advice.best.place, "verb": advice.best.verb or None},
                   "margin": advice.margin, "sentence": models.sentence(advice, quantity.format_time)},
        "memory_bytes": (s.devices + 1) * task.bytes,
        "crossovers": [{"axis": one.axis, "value": _value(one, task), "meaning": one.meaning}
                       for one in models.crossovers(s, task.places)],
        "inequalities": {"thread": _inequality(s.threaded),
                         "core": _inequality(s.dedicated) if s.dedicated else None}}
    if task.measured:
        found["measured"] = task.measured.document()
    return found


def _inequality(one: core.Inequality) -> dict[str, Any]:
    return {"synchronous_seconds": one.synchronous, "compute_seconds": one.compute, "write_seconds": one.write,
            "margin_seconds": one.margin, "holds": one.holds}


def _value(one: Crossover, task: Task) -> float:
    return one.value * task.bytes if one.axis == "bytes" else one.value


def _shield(task: Task) -> dict[str, Any]:
    waits, ordered = _waits(task)
    return {"iterations": task.iterations, "period_seconds": task.period,
            "variables": [{"name": one.name, "pst_seconds": one.pst, "write_seconds": one.write,
                           "handover_seconds": one.handover, "excess_seconds": shield.alone(one),
                           "wait_seconds": wait} for one, wait in zip(task.variables, waits.each)],
            "flush_seconds": waits.flush, "wait_seconds": waits.total, "write_seconds": waits.writing,
            "overlap": waits.overlap, "collated": _collated(task),
            "best_order": None if ordered is None else {"names": [one.name for one in ordered[0]],
                                                        "wait_seconds": ordered[1].total}}


def _collated(task: Task) -> dict[str, float] | None:
    """Returns what OpenFOAM's collated format with its thread would give; None if it is unknown."""
    if task.period is None:
        return None
    waits = shield.formatted_by_the_program(task.variables, task.iterations, task.period)
    return waits and {"wait_seconds": waits.total, "overlap": waits.overlap}


def _waits(task: Task) -> tuple[shield.Waits, tuple[list[shield.Variable], shield.Waits] | None]:
    """Returns the waits and, if all are handed over at once, those in the best order. Outputs that are far apart are
    all alike."""
    def replay(variables: Any) -> shield.Waits:
        if task.period is not None:
            return shield.run(variables, task.iterations, task.period)
        one, n = shield.one_output(variables), task.iterations
        return shield.Waits(tuple(n * wait for wait in one.each), one.flush, n * one.writing)

    waits = replay(task.variables)
    if len({one.handover for one in task.variables}) > 1:
        return waits, None
    ordered = shield.best_order(task.variables)
    return waits, (ordered, replay(ordered))


# ---- for people -------------------------------------------------------------------------------------------


def _print_whole(task: Task, s: Setting) -> None:
    advice = models.advise(s, task.places)
    output.print_table(("input", "value", "from"), [(one.name, one.value, one.source) for one in task.inputs])
    print(f"\n{quantity.counted(s.n, 'iteration')}, C/W {s.c / s.w:.3g}, {quantity.counted(s.devices, 'device')}; "
          f"the limit is {quantity.format_time(advice.limit)}.\n")
    titles = ("place", "verb", "total", *(["from … to"] if task.spread else []), "saved", "× limit",
              "waiting for output", "overlap OO")
    output.print_table(titles, _prediction_rows(advice, models.intervals(task.spread)))
    print(f"\n{models.sentence(advice, quantity.format_time)}")
    print(f"It needs memory for {s.devices + 1} outputs, {quantity.format_size((s.devices + 1) * task.bytes)}; more "
          "gains nothing while C and W keep steady.")
    _print_core(s, task.places)
    print()
    output.print_table(("along", "from", "on"), [(_AXES[one.axis], _point(one, task, s), one.meaning)
                                                 for one in models.crossovers(s, task.places)])


def _prediction_rows(advice: Advice,
                     intervals: dict[tuple[str, str], tuple[float, float]]) -> list[tuple[str, ...]]:
    ot = advice.predictions[0].waiting
    rows = []
    for one in advice.predictions:
        synchronous = one.place == "sync"
        verb = {"": "–", "alloc": "alloc, commit", "write": "write (one copy)"}[one.verb]
        low, high = intervals.get((one.place, one.verb), (one.seconds, one.seconds))
        interval = [f"{quantity.format_time(low)} … {quantity.format_time(high)}"] if intervals else []
        gain = "–" if synchronous else _percent(one.gain)
        overlap = "–" if synchronous else _percent(shield.output_overlap(ot, one.waiting))
        rows.append((one.place, verb, quantity.format_time(one.seconds), *interval, gain,
                     quantity.three(one.to_limit), quantity.format_time(one.waiting), overlap))
    return rows


def _print_core(s: Setting, places: tuple[str, ...]) -> None:
    if s.cores is None or "core" not in places:
        return
    one = s.dedicated
    if one is None:
        print("Place core: with one core there is none to dedicate.")
        return
    time = quantity.format_time
    print(f"A dedicated core of {s.cores} is worth it from {core.worth_from(s.cores):.3g} % of the computing time in "
          f"output (here {_percent(s.synchronous_w / s.c)}): W + C = {time(one.synchronous)} "
          f"{'>' if one.holds else '≤'} max(C_ded, W_ded) = max({time(one.compute)}, {time(one.write)}), "
          f"{time(abs(one.margin))} an iteration {'gained' if one.holds else 'lost'}.")


def _point(one: Crossover, task: Task, s: Setting) -> str:
    if one.axis == "bytes":
        return quantity.format_size(one.value * task.bytes)
    if one.axis == "cores":
        return str(round(one.value))
    if one.axis == "slowdown":
        return _percent(one.value)
    return f"{one.value:.3g} (C = {quantity.format_time(one.value * s.w)})"


def _print_shield(task: Task) -> None:
    waits, ordered = _waits(task)
    time = quantity.format_time
    output.print_table(("variable", "PST", "write", "write − PST", "waited"),
                       [(one.name, time(one.pst), time(one.write), time(one.write - one.pst), time(wait))
                        for one, wait in zip(task.variables, waits.each)])
    flush = f", {time(waits.flush)} of it at the end" if waits.flush > 0 else ""
    print(f"\nOver {quantity.counted(task.iterations, 'output')} the program waits {time(waits.total)}{flush}, "
          f"instead of {time(waits.writing)} synchronously: {_percent(waits.overlap)} of output overlap.")
    if collated := _collated(task):
        print(f"With OpenFOAM's collated format and its thread it would wait {time(collated['wait_seconds'])}: "
              f"{_percent(collated['overlap'])}.")
    if ordered and waits.total - ordered[1].total > 1e-9 * waits.writing:
        names = ", ".join(one.name for one in ordered[0])
        print(f"Handed over in the order in which they are needed again ({names}), it would wait "
              f"{time(ordered[1].total)}.")


def _percent(share: float) -> str:
    return f"{share * 100:.3g} %"
