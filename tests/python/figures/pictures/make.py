#!/usr/bin/env python3
"""Makes the samples beside it, from the models and a fixed seed: nothing in them was measured.

The tests of the pictures read them: result files (a sweep over C/W with ablations, and peers), a trace of a run,
write times of processes. Run it here again after a change of the formats.
"""

import csv
import json
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
N, W, COPY, REQUEST, BYTES, REPEATS = 16, 0.127, 0.026, 4.1e-6, 256 << 20, 5


def limit(n, c, w):
    return c + w + (n - 1) * max(c, w)


def summary(rng, typical, spread):
    values = sorted(typical * (1 + spread * rng.gauss(0, 1)) for _ in range(REPEATS))
    middle = values[REPEATS // 2]
    return {"median": middle, "least": values[0], "most": values[-1], "ci_low": values[0], "ci_high": values[-1],
            "runs": REPEATS}


def series(rng, writer, c, total, model=None, predicted=None, switches=None, slowdown=0.004, **more):
    waiting = max(1e-5, total - N * c * (1 + slowdown))
    best = limit(N, c, W)
    names = {"total": summary(rng, total, 0.004), "computing": summary(rng, N * c * (1 + slowdown), 0.003),
             "waiting": summary(rng, waiting, 0.03), "to_limit": summary(rng, total / best, 0.004),
             "slowdown": summary(rng, slowdown, 0.3), "overlap": summary(rng, 1 - waiting / (N * W), 0.001),
             "peak_memory": summary(rng, 3.1 * BYTES, 0.002)}
    measured = names["total"]["median"]
    return {"writer": writer, "switches": switches or {}, "model": model, "predicted_seconds": predicted,
            "deviation": None if predicted is None else (measured - predicted) / predicted, "summary": names,
            "runs": [], **more}


def point(rng, ratio):
    c = ratio * W
    best = limit(N, c, W)
    models = {"model1": best, "model2": best + N * REQUEST, "model3": best + N * REQUEST,
              "sync": N * (c + W), "model2_copy": limit(N, c + COPY, W)}
    all_series = {
        "none": series(rng, "none", c, N * c, slowdown=0.0),
        "sync": series(rng, "sync", c, models["sync"] * 1.004, "sync", models["sync"]),
        "tailrace alloc": series(rng, "tailrace", c, best * 1.011, "model2", models["model2"], {"verb": "alloc"}),
        "tailrace write": series(rng, "tailrace", c, models["model2_copy"] * 1.013, "model2_copy",
                                 models["model2_copy"], {"verb": "write"}),
        "posix-aio": series(rng, "posix-aio", c, best * 1.09 + 0.3 * min(c, W) * N, slowdown=0.05)}
    return {"c_over_w_asked": ratio, "compute_seconds": c, "write_seconds": W * (1 + 0.002 * rng.gauss(0, 1)),
            "limit_seconds": best, "models": models, "series": all_series}


def frame(kind, command):
    fit = {"seconds": W, "intercept": 0.006, "r2": 0.9987, "dropped": 2, "samples": [[k, k * W] for k in range(1, 5)]}
    return {"tailrace_result": 1, "kind": kind, "created": "2026-11-22T01:02:03Z", "command": command,
            "tailrace": "0.1.0", "machine": {"cpu": "Made-up CPU", "cpus": 2, "memory_bytes": 8 << 30,
                                             "kernel": "Linux 6.1", "os": "Debian GNU/Linux 12"},
            "storage": [{"directory": "out/bench", "filesystem": "ext4", "page_cache": "bypassed"}],
            "settings": {"compute": "busy", "threads": 1, "memory": "heap", "iterations": N, "bytes": BYTES,
                         "variables": 1, "repeats": REPEATS, "warmup": 1, "devices": 1, "queue_depth": 8},
            "statistics": {"interval": "99.7 % interval of confidence of the median",
                           "method": "bootstrap percentile, seed 1"},
            "measured": {"write_regression": fit, "write_saturation": {**fit, "seconds": 0.1262},
                         "request": {**fit, "seconds": REQUEST}, "copy": {**fit, "seconds": COPY}}}


def sweep(rng):
    result = frame("pattern", "make.py: made from the models, not measured")
    result["points"] = [point(rng, ratio) for ratio in (0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 4, 10)]
    rungs = (("naive (posix-aio)", "posix-aio", 1.31, 0.21), ("unpinned", "tailrace-alloc-unpinned", 1.12, 0.09),
             ("pinned", "tailrace-alloc", 1.011, 0.004),
             ("unaligned borrow", "tailrace-borrow-unaligned", 1.08, 0.03),
             ("aligned borrow", "tailrace-borrow", 1.012, 0.005),
             ("malloc each iteration", "tailrace-borrow-malloc", 1.19, 0.07),
             ("pool", "tailrace-alloc", 1.011, 0.004),
             ("buffered", "tailrace-alloc-buffered", 1.24, 0.05), ("direct", "tailrace-alloc", 1.011, 0.004))
    best = limit(N, W, W)
    result["ablation"] = [{"name": name, "series": series(rng, writer.split("-")[0], W, best * factor, name=writer,
                                                          slowdown=slowdown)}
                          for name, writer, factor, slowdown in rungs]
    return result


def peers(rng):
    result = frame("peers", "make.py: made from the models, not measured")
    result["points"] = []
    every = (("none", 0, 0.0, 0), ("sync (pwrite)", 0, 0.0, 9), ("tailrace alloc", 0.011, 0.004, 12),
             ("h5py", 0, 0.002, 7), ("ADIOS2 BP5", 0, 0.01, 14), ("ADIOS2 BP5 AsyncWrite", 0.21, 0.05, 15),
             ("glibc AIO", 0.29, 0.09, 24), ("Open MPI iwrite_all", 0.47, 0.03, 19))
    for ratio in (0.5, 1, 2):
        c = ratio * W
        best = limit(N, c, W)
        found = {}
        for name, factor, slowdown, lines in every:
            total = best * (1 + factor) if factor else N * (c + W) * (1 + slowdown)
            total = N * c if name == "none" else total
            found[name] = series(rng, name, c, total, slowdown=slowdown, user_lines=lines)
        found["MPICH iwrite_all"] = {"writer": "mpich", "switches": {}, "model": None, "predicted_seconds": None,
                                     "deviation": None, "user_lines": 19, "runs": [],
                                     "error": "mpiexec.mpich: not installed here"}
        result["points"].append({"c_over_w_asked": ratio, "compute_seconds": c, "write_seconds": W,
                                 "limit_seconds": best, "models": {}, "series": found})
    return result


def trace(rng, iterations=24, variables=("v0", "v1"), blocks=3, start=81_000_000.0):
    """A program of two variables whose writer is sometimes slower than its computation."""
    events = [{"ph": "M", "pid": 7, "name": "process_name", "args": {"name": "pattern"}}]
    events += [{"ph": "M", "pid": 7, "tid": tid, "name": "thread_name", "args": {"name": name}}
               for tid, name in ((1, "program"), (2, "tailrace writer"))]
    now, free_at, number, size = start, start, 0, BYTES // 2
    written, under_way = [], []

    def program(kind, name, begin, end, variable, iteration):
        events.append({"ph": "X", "pid": 7, "tid": 1, "cat": kind, "name": name, "ts": begin, "dur": end - begin,
                       "args": {"variable": variable, "iteration": iteration, "bytes": size}})

    for iteration in range(iterations):
        for variable in variables:
            begin = now
            while sum(end > now for end in written) >= blocks:
                now = min(end for end in written if end > now)
            if now > begin:
                program("handover", f"alloc {variable}", begin, now, variable, iteration)
                program("wait", "memory", begin, now, variable, iteration)
            seconds = 41e3 * (1 + 0.03 * rng.random())
            program("compute", f"compute {variable}", now, now + seconds, variable, iteration)
            now += seconds
            program("handover", f"commit {variable}", now, now + 300, variable, iteration)
            now += 300
            number += 1
            begin = max(now, free_at)
            free_at = begin + (95e3 if iteration % 8 == 5 else 37e3) * (1 + 0.1 * rng.random())
            shared = {"pid": 7, "tid": 2, "name": variable, "id": number}
            about = {"variable": variable, "iteration": iteration, "bytes": size}
            events += [{"ph": "b", "cat": "queued", "ts": now, "args": about, **shared},
                       {"ph": "e", "cat": "queued", "ts": begin, **shared},
                       {"ph": "b", "cat": "writing", "ts": begin, "args": about, **shared},
                       {"ph": "e", "cat": "writing", "ts": free_at, **shared}]
            written.append(free_at)
            under_way += [(now, 1), (free_at, -1)]
        program("handover", "end_iteration", now, now + 200, None, iteration)
        now += 200
        events.append({"ph": "X", "pid": 7, "tid": 2, "cat": "publish", "name": "publish", "ts": free_at, "dur": 150,
                       "args": {"iteration": iteration}})
    program("wait", "flush", now, free_at, None, iterations - 1)
    held = 0
    for at, change in sorted(under_way):
        held += change
        counts = (("memory held", "bytes", held * size), ("blocks under way", "blocks", held))
        events += [{"ph": "C", "pid": 7, "name": name, "ts": at, "args": {key: value}} for name, key, value in counts]
    return {"displayTimeUnit": "ms", "otherData": {"tailrace_trace": 1, "program": "pattern", "dropped_events": 0},
            "traceEvents": events}


def write_times(rng, processes=48):
    """A waiting queue, a fair share, and a staircase, as in Dorier et al. 2012's figures 2 and 5."""
    experiments = (("4 MB a process", 4 << 20), ("16 MB a process", 16 << 20), ("stripes of 32 MB", 8 << 20))
    for experiment, count in experiments:
        for run in range(1, 6):
            slow = 1 + 0.5 * rng.random()
            for process in range(processes):
                place = rng.random()
                seconds = {"4 MB a process": slow * 0.05 * (0.1 + 0.9 * place),
                           "16 MB a process": slow * 0.11 * (0.85 + 0.15 * place ** 3),
                           "stripes of 32 MB": slow * 0.25 * (0.25 + 0.25 * int(4 * place ** 2))}[experiment]
                yield experiment, run, process, f"{seconds:.5f}", count


def main():
    rng = random.Random(3)
    for name, document in (("sweep.json", sweep(rng)), ("peers.json", peers(rng)), ("trace.json", trace(rng))):
        lines = json.dumps(json.loads(json.dumps(document), parse_float=lambda text: float(f"{float(text):.9g}")))
        (HERE / name).write_text(lines + "\n")
    with (HERE / "write_times.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("experiment", "run", "process", "seconds", "bytes"))
        rows.writerows(write_times(rng))


if __name__ == "__main__":
    main()
