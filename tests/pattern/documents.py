#!/usr/bin/env python3
"""The documents that `pattern` prints and the trace that it writes: valid JSON, with everything that readers need.

    documents.py PATTERN SCRATCH_DIRECTORY
"""

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

WRITERS = ["none", "sync", "sync-hdf5", "bare", "posix-aio", "tailrace"]
ITERATIONS = 4

RUN_KEYS = {
    "pattern_run", "writer", "switches", "page_cache", "compute", "passes", "threads", "memory", "iterations",
    "bytes", "variables", "devices", "seconds_total", "seconds_computing", "seconds_waiting", "seconds_waiting_each",
    "seconds_computing_each", "per_variable", "peak_memory_bytes", "buffer_bytes", "budget_bytes", "result_hash",
    "cache_misses", "description",
}


def document(pattern, *arguments):
    """Returns what the program prints; it must print nothing else."""
    result = subprocess.run([pattern, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def check_run(run, writer):
    assert RUN_KEYS <= set(run), RUN_KEYS - set(run)
    assert run["writer"] == writer and run["pattern_run"] == 1
    assert run["page_cache"] in ("bypassed", "synced")
    assert (run["cache_misses"] is None) == ("cache_misses_not_available" in run)
    for name in ("seconds_waiting_each", "seconds_computing_each"):
        assert len(run[name]) == ITERATIONS
    assert [variable["name"] for variable in run["per_variable"]] == ["v0", "v1"]
    for variable in run["per_variable"]:
        for name in ("pst_seconds", "write_seconds", "excess_seconds"):
            assert len(variable[name]) == ITERATIONS
        assert variable["pst_seconds"][-1] is None


def check_trace(path, writer):
    trace = json.loads(path.read_text(encoding="utf-8"))
    assert trace["otherData"]["tailrace_trace"] == 1
    assert trace["otherData"]["dropped_events"] == 0
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    computing = [event for event in events if event["cat"] == "compute"]
    assert len(computing) == 2 * ITERATIONS
    assert computing[1]["name"] == "compute v1" and computing[1]["args"] == {"variable": "v1", "iteration": 0}
    assert all(event["dur"] >= 0 and event["tid"] == 1 for event in events)
    assert {event["cat"] for event in events} <= {"compute", "handover", "wait"}
    handed = [event for event in events if event["cat"] == "handover"]
    assert bool(handed) == (writer != "none")
    # Computing and handing over never overlap.
    ordered = sorted((event for event in events if event["cat"] != "wait"), key=lambda event: event["ts"])
    for first, second in zip(ordered, ordered[1:]):
        assert first["ts"] + first["dur"] <= second["ts"] + 0.01


def check_library_trace(run, path):
    """tailrace's own trace is kept beside the program's, with the same clock."""
    library = path.with_suffix(".tailrace.json")
    assert run["library_trace"] == str(library)
    trace = json.loads(library.read_text(encoding="utf-8"))
    mine = json.loads(path.read_text(encoding="utf-8"))
    first = min(event["ts"] for event in mine["traceEvents"] if event["ph"] == "X")
    written = [event["ts"] for event in trace["traceEvents"] if event["ph"] == "b" and event["cat"] == "writing"]
    assert len(written) == 2 * ITERATIONS and min(written) > first


def check_runs(pattern, scratch):
    hashes = set()
    for writer in WRITERS:
        path = scratch / f"{writer}.json"
        run = document(pattern, "run", "--write", writer, "--passes", "20", "--iterations", str(ITERATIONS),
                       "--bytes", "200000", "--variables", "2", "--dir", str(scratch / "out"), "--trace", str(path))
        check_run(run, writer)
        check_trace(path, writer)
        if writer == "tailrace":
            check_library_trace(run, path)
        hashes.add(run["result_hash"])
    assert len(hashes) == 1, "output has changed the results"


def check_others(pattern, scratch):
    calibration = document(pattern, "calibrate", "--compute", "matmul-transposed", "--seconds", "0.001")
    assert calibration["pattern_calibrate"] == 1 and calibration["passes"] >= 1
    assert calibration["seconds_per_pass"] > 0
    for what in ("regression", "saturation", "saturation-busy", "saturation-write", "write-copy", "req", "copy"):
        measured = document(pattern, "measure", what, "--count", "5", "--bytes", "65536",
                            "--dir", str(scratch / "out"))
        assert measured["pattern_measure"] == 1 and measured["what"] == what and measured["bytes"] == 65536
        assert [n for n, seconds in measured["samples"]] == [1, 2, 3, 4, 5]
    assert not (scratch / "out").exists(), "files are left"


def check_interrupted(pattern, scratch):
    """An interrupted run removes its files."""
    folder = scratch / "interrupted"
    command = [pattern, "run", "--write", "sync", "--iterations", "999999", "--passes", "1", "--bytes", "65536",
               "--dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not any(folder.glob("pattern.*/pattern_*")) and process.poll() is None:
            pass
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=600)
    assert process.returncode == 1 and out == "" and err == "pattern: interrupted\n", (process.returncode, out, err)
    assert not folder.exists()


def main():
    pattern = sys.argv[1]
    with tempfile.TemporaryDirectory(dir=sys.argv[2]) as folder:
        scratch = Path(folder)
        check_runs(pattern, scratch)
        check_others(pattern, scratch)
        check_interrupted(pattern, scratch)


if __name__ == "__main__":
    main()
