"""Computes figures from runs: what the models predict for a C/W, beside what the runs measured. Pure functions.

A prediction uses only what was measured separately, in turn with the runs: C of the runs without output, W of
writing alone, a request, a copy; never the runs that it predicts. It is judged by the least values: what the models
predict from the least of each input, beside the least total of the rounds. On a shared machine other programs only
ever add time, to the inputs in some rounds and to the runs in others, and no model can know that. The deviation of
the medians is kept beside it. Its interval says how far a prediction may be off because its inputs vary: from the
least to the most that the model returns for the inputs of any round, or for the least or the most of each input. C
and W of the limit are the medians of the runs without output and of the synchronous
ones: the limit is a yardstick.
"""

from __future__ import annotations

import statistics as plain
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tailrace.models import pipeline

from . import measure
from .program import Report
from .statistics import summarise
from .writers import Writer

Runs = Mapping[str, Sequence[Report]]  # by the writers' names, one run for each round
Slopes = Mapping[str, float]  # from measure.Meter.once, in seconds
Pick = Callable[[Iterable[float]], float]  # chooses one of the values of several rounds


@dataclass(frozen=True)
class Inputs:
    """The inputs of a prediction, in seconds for an iteration."""

    compute_seconds: float  # of the runs without output
    write_seconds: float  # W by saturation, through tailrace, beside a program that computes as much
    write_copy_seconds: float  # the same beside a program that also copies
    sync_write_seconds: float  # W by regression, of synchronous writes
    request_seconds: float  # for one hand-over
    copy_seconds: float  # for the copies of `write`
    memcpy_seconds: float  # for a warm memcpy, which the limit uses

    def document(self) -> dict[str, float]:
        """Returns the inputs as a result file has them."""
        return asdict(self)


def gather(without_output: Sequence[Report], slopes: Sequence[Slopes], request: float, pick: Pick) -> Inputs:
    """Returns the inputs from the runs without output and the measurements of their rounds: the least, or the
    medians."""
    def of(name: str) -> float:
        return pick(one[name] for one in slopes)

    compute = pick(run["seconds_computing"] / run["iterations"] for run in without_output)
    waiting = of("write_saturation")
    write = pipeline.contended(compute, waiting, of("write_saturation_busy"))
    return Inputs(compute, write, measure.copying(write, waiting, of("write_saturation_copy")),
                  of("write_regression"), request, of("write_copy"), of("copy"))


def spread(without_output: Sequence[Report], slopes: Sequence[Slopes], request: float) -> list[Inputs]:
    """The inputs that an interval spans: those of each round, the least of each of them, and the most of each."""
    rounds = [gather([run], [one], request, min) for run, one in zip(without_output, slopes)]
    return [*rounds, gather(without_output, slopes, request, min), gather(without_output, slopes, request, max)]


def predict(inputs: Inputs, iterations: int, variables: int, devices: int) -> dict[str, float]:
    """Returns the total seconds by every model. `tailrace predict` uses "pipelined": model 2 for one device and one
    variable, model 3 without its excess for several."""
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
    """Returns the name of the model that predicts a writer."""
    if writer.model and variables * devices > 1:
        return writer.model.replace("model2", "pipelined")
    return writer.model


def point(asked: float, least: Inputs, medians: Inputs, writers: Sequence[Writer], runs: Runs,
          errors: Mapping[str, str], spread_: Sequence[Inputs] = ()
          ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Returns a C/W as a result file has it, without its series; and the series, by the writers' names. The
    predictions are from the least inputs, and from the medians. They have intervals if `spread_` has the inputs of
    the rounds."""
    first = runs["sync"][0]
    n, variables, devices = int(first["iterations"]), int(first["variables"]), int(first["devices"])
    models, typical = (predict(inputs, n, variables, devices) for inputs in (least, medians))
    said = [predict(inputs, n, variables, devices) for inputs in spread_]
    compute = plain.median(run["seconds_computing"] for run in runs["none"]) / n
    write = plain.median(run["seconds_waiting"] for run in runs["sync"]) / n
    limit = pipeline.limit(n, compute, write, devices, variables)
    limit_copy = pipeline.limit(n, compute + medians.memcpy_seconds, write, devices, variables)
    about = {"c_over_w_asked": asked, "compute_seconds": compute, "write_seconds": write, "limit_seconds": limit,
             "limit_copy_seconds": limit_copy, "models": models, "predicted_from": least.document(),
             "predicted_from_medians": medians.document()}
    series = {}
    for writer in writers:
        if writer.name in errors:
            series[writer.name] = {"writer": writer.arguments[1], "name": writer.name, "error": errors[writer.name]}
            continue
        model = model_of(writer, variables, devices)
        series[writer.name] = _series(writer, runs[writer.name], runs["sync"], n * compute,
                                      limit_copy if writer.copies else limit)
        total = series[writer.name]["summary"]["total"]
        series[writer.name] |= _judged(model, models, typical, total)
        if model is not None and said:
            series[writer.name] |= interval([one[model] for one in said], total)
    return about, series


def interval(predictions: Sequence[float], total: Mapping[str, float]) -> dict[str, Any]:
    """The least and the most of the predictions, and whether the median total lies between them."""
    low, high = min(predictions), max(predictions)
    return {"predicted_interval": [low, high], "within_interval": low <= total["median"] <= high}


def _judged(model: str | None, models: Mapping[str, float], typical: Mapping[str, float],
            total: Mapping[str, float]) -> dict[str, Any]:
    """Returns the prediction for a series and its deviations."""
    if model is None:
        return {"model": None, "predicted_seconds": None, "deviation": None, "deviation_of_medians": None}
    return {"model": model, "predicted_seconds": models[model], "deviation": total["least"] / models[model] - 1,
            "deviation_of_medians": total["median"] / typical[model] - 1}


def _series(writer: Writer, runs: Sequence[Report], sync: Sequence[Report], computing: float,
            limit: float) -> dict[str, Any]:
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
    return {"writer": runs[0]["writer"], "name": writer.name, "switches": runs[0].get("switches", {}),
            "summary": summary, "runs": list(runs)}


def _summary(runs: Sequence[Report], value: Callable[[Report], float]) -> dict[str, float]:
    return summarise(map(value, runs)).document()
