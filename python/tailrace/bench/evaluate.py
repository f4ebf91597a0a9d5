"""Numbers from runs: what the models predict for a C/W, and what the runs amount to beside it. Pure functions.

A prediction knows only what was measured by itself, in turn with the runs: C of the runs without output, W by writing
and nothing else, a request, a copy; never anything of the runs that it predicts. C and W of the limit come from the
runs without output and the synchronous ones: the limit is a yardstick.
"""

from __future__ import annotations

import statistics as plain
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tailrace.models import pipeline

from . import measure
from .program import Report
from .statistics import summarise
from .writers import Writer

Runs = Mapping[str, Sequence[Report]]  # by the writers' names, a run a round
Slopes = Mapping[str, float]  # of measure.Meter.once, in seconds


@dataclass(frozen=True)
class Inputs:
    """What a prediction is made from: seconds an iteration."""

    compute_seconds: float  # of the runs without output
    write_seconds: float  # W by saturation, through tailrace, beside so much computing
    write_copy_seconds: float  # the same in a program that copies, too
    sync_write_seconds: float  # W by regression, synchronously
    request_seconds: float  # one hand-over's
    copy_seconds: float  # an iteration's bytes, as `write` copies them
    memcpy_seconds: float  # the same by a warm memcpy, which the limit knows

    def document(self) -> dict[str, float]:
        """As a result file has it."""
        return asdict(self)


def gather(without_output: Sequence[Report], slopes: Sequence[Slopes], request: float) -> Inputs:
    """From the runs without output, and what was measured in each of their rounds: medians."""
    def of(name: str) -> float:
        return plain.median(one[name] for one in slopes)

    compute = plain.median(run["seconds_computing"] / run["iterations"] for run in without_output)
    waiting = of("write_saturation")
    write = pipeline.contended(compute, waiting, of("write_saturation_busy"))
    return Inputs(compute, write, measure.copying(write, waiting, of("write_saturation_copy")),
                  of("write_regression"), request, of("write_copy"), of("copy"))


def predict(inputs: Inputs, iterations: int, variables: int, devices: int) -> dict[str, float]:
    """The seconds in total by every model. "pipelined" is what `tailrace predict` goes by: model 2 for one device and
    one variable, model 3 without its excess for several."""
    n, c, w, req, copy = (iterations, inputs.compute_seconds, inputs.write_seconds, inputs.request_seconds,
                          inputs.copy_seconds)
    w_copy = inputs.write_copy_seconds
    return {"model1": pipeline.model1(n, c, w), "model2": pipeline.model2(n, c, w, variables * req),
            "model3": pipeline.model3(n, c, w, devices), "sync": pipeline.sync(n, c, inputs.sync_write_seconds),
            "model2_copy": pipeline.with_copy(n, c, w_copy, variables * req, copy),
            "pipelined": pipeline.pipelined(n, c, w, req=req, devices=devices, variables=variables),
            "pipelined_copy": pipeline.pipelined(n, c, w_copy, req=req, copy=copy, devices=devices,
                                                 variables=variables)}


def model_of(writer: Writer, variables: int, devices: int) -> str | None:
    """The model that speaks of a writer."""
    if writer.model and variables * devices > 1:
        return writer.model.replace("model2", "pipelined")
    return writer.model


def point(asked: float, inputs: Inputs, models: Mapping[str, float], writers: Sequence[Writer], runs: Runs,
          errors: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """A C/W as a result file has it, but for its series; and those, by the writers' names."""
    first = runs["sync"][0]
    n, variables, devices = int(first["iterations"]), int(first["variables"]), int(first["devices"])
    compute = plain.median(run["seconds_computing"] for run in runs["none"]) / n
    write = plain.median(run["seconds_waiting"] for run in runs["sync"]) / n
    limit = pipeline.limit(n, compute, write, devices, variables)
    limit_copy = pipeline.limit(n, compute + inputs.memcpy_seconds, write, devices, variables)
    about = {"c_over_w_asked": asked, "compute_seconds": compute, "write_seconds": write, "limit_seconds": limit,
             "limit_copy_seconds": limit_copy, "models": dict(models), "predicted_from": inputs.document()}
    series = {}
    for writer in writers:
        if writer.name in errors:
            series[writer.name] = {"writer": writer.arguments[1], "name": writer.name, "error": errors[writer.name]}
            continue
        model = model_of(writer, variables, devices)
        series[writer.name] = _series(writer, runs[writer.name], runs["sync"], n * compute,
                                      limit_copy if writer.copies else limit, model, models[model] if model else None)
    return about, series


def _series(writer: Writer, runs: Sequence[Report], sync: Sequence[Report], computing: float, limit: float,
            model: str | None, predicted: float | None) -> dict[str, Any]:
    summary = {"total": _summary(runs, lambda run: run["seconds_total"]),
               "computing": _summary(runs, lambda run: run["seconds_computing"]),
               "waiting": _summary(runs, lambda run: run["seconds_waiting"]),
               "slowdown": _summary(runs, lambda run: run["seconds_computing"] / computing - 1),
               "peak_memory": _summary(runs, lambda run: run["peak_memory_bytes"])}
    if writer.name != "none" and limit > 0:
        summary["to_limit"] = _summary(runs, lambda run: run["seconds_total"] / limit)
    if writer.name not in ("none", "sync"):
        overlaps = [1 - run["seconds_waiting"] / other["seconds_waiting"] for run, other in zip(runs, sync)
                    if other["seconds_waiting"] > 0]
        if overlaps:
            summary["overlap"] = summarise(overlaps).document()
    if all(run.get("cache_misses") is not None for run in runs):
        summary["cache_misses"] = _summary(runs, lambda run: run["cache_misses"])
    median = summary["total"]["median"]
    return {"writer": runs[0]["writer"], "name": writer.name, "switches": runs[0].get("switches", {}), "model": model,
            "predicted_seconds": predicted, "deviation": median / predicted - 1 if predicted else None,
            "summary": summary, "runs": list(runs)}


def _summary(runs: Sequence[Report], value: Callable[[Report], float]) -> dict[str, float]:
    return summarise(map(value, runs)).document()
