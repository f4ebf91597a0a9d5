"""`tailrace bench pattern`: the command, on a fake program that answers at once, and on the real one if it is built
(tiny sizes: nothing here tests speed)."""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys

import pytest
from tailrace import cli
from tailrace_lab.bench import measure, program, result
from tailrace_lab.bench.busy_loops import BusyLoops

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
PATTERN = REPOSITORY / "build/release/lab/pattern/pattern"
MIB = 1 << 20

# Answers as lab/pattern does, with times by formula: a pass takes 1 ms, a write 10 ms, handing over 0.1 ms, a
# memcpy 1 ms. Logs its arguments beside itself, and does what its file `mood` says.
FAKE = '''\
#!{python}
import json, os, pathlib, sys
here = pathlib.Path(__file__).parent
words = sys.argv[1:]
with open(here / "log", "a") as log:
    log.write(json.dumps(words) + "\\n")
mood = (here / "mood").read_text().split(":") if (here / "mood").exists() else [""]
option = lambda name, default: words[words.index(name) + 1] if name in words else default
count = lambda name, default: int(option(name, default))
if mood[0] == "fail" and mood[1] in " ".join(words):
    sys.exit("pattern: it has no luck today")
if mood[0] == "garbage":
    print("no JSON"); sys.exit()
if words[0] == "calibrate":
    print(json.dumps({{"pattern_calibrate": 1, "passes": 100, "seconds_per_pass": 1e-3}})); sys.exit()
if words[0] == "measure":
    n = count("--count", 16)
    each = {{"regression": 10e-3,
            "saturation": 10e-3, "saturation-busy": 10e-3, "saturation-write": 12e-3, "write-copy": 1e-3,
            "req": 1e-4, "copy": 1e-3}}[words[1]]
    print(json.dumps({{"pattern_measure": 1, "what": words[1], "bytes": count("--bytes", 1),
                      "samples": [[i, each * i] for i in range(1, n + 1)]}})); sys.exit()
directories = [pathlib.Path(words[at + 1]) for at, word in enumerate(words) if word == "--dir"]
for directory in directories:
    (directory / "block").write_bytes(b"x") if "--keep" in words else None
n, writer, verb = count("--iterations", 8), option("--write", "none"), option("--verb", "alloc")
c, w, req = 1e-3 * count("--passes", 1), 10e-3, 1e-4
waits = {{"none": [0.0] * n, "tailrace": [req + (1e-3 if verb == "write" else 0)] * n}}.get(writer, [w] * n)
if writer == "tailrace":
    waits = [wait + (max(0.0, w - c) if i else 0.0) for i, wait in enumerate(waits)]
    waits[-1] += w
variables = count("--variables", 1)
excess = [max(0.0, w - c)] * (n - 1)
answer = {{"pattern_run": 1, "writer": writer,
    "switches": {{"verb": verb, "direct": option("--direct", "on") == "on"}},
    "page_cache": "bypassed", "compute": "busy", "passes": count("--passes", 1), "threads": 1, "memory": "heap",
    "iterations": n, "bytes": count("--bytes", 1), "variables": variables, "devices": len(directories),
    "seconds_total": n * c + sum(waits), "seconds_computing": n * c, "seconds_waiting": sum(waits),
    "seconds_waiting_each": waits, "seconds_computing_each": [c] * n,
    "per_variable": [{{"name": f"v{{v}}", "pst_seconds": [c] * (n - 1), "write_seconds": [w] * n,
                      "excess_seconds": excess if writer == "tailrace" else None}} for v in range(variables)],
    "peak_memory_bytes": 64 << 20, "buffer_bytes": 0, "budget_bytes": 0, "result_hash": "abc",
    "cache_misses": None, "cache_misses_not_available": "the kernel forbids it", "description": "made up"}}
if "--trace" in words:
    pathlib.Path(option("--trace", "")).write_text("{{}}")
print(json.dumps(answer))
'''


class Fake:
    """The fake program."""

    def __init__(self, folder):
        self.path = folder / "pattern"
        self.path.write_text(FAKE.format(python=sys.executable))
        self.path.chmod(0o755)
        self._folder = folder

    def mood(self, text):
        (self._folder / "mood").write_text(text)

    def log(self):
        return [json.loads(line) for line in (self._folder / "log").read_text().splitlines()]

    def runs(self):
        return [" ".join(words) for words in self.log() if words[0] == "run"]


@pytest.fixture
def fake(tmp_path):
    folder = tmp_path / "program"
    folder.mkdir()
    return Fake(folder)


@pytest.fixture
def bench(tmp_path, fake, capsys):
    """Runs the command with the fake program; returns exit code, output and messages."""

    def call(*arguments, directory=tmp_path / "out"):
        code = cli.main(["bench", "pattern", "--pattern", str(fake.path), "--dir", str(directory), "--bytes", "1MiB",
                         *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def names(runs):
    """Returns the writers of runs, from the program's arguments."""
    found = []
    for run in runs:
        words = run.split()
        verb = words[words.index("--verb") + 1] if "--verb" in words else ""
        found.append((words[words.index("--write") + 1] + " " + verb).strip())
    return found


def test_the_words(bench):
    code, said, complaints = bench("--ratio", "0.5,1")
    assert (code, complaints) == (0, "")
    for words in ("page cache bypassed", "16 iterations of 1 MiB", "W by saturation (tailrace)", "C/W = 0.5",
                  "tailrace alloc", "cache misses: not available here: the kernel forbids it", "less)",
                  "× the limit", "largest deviation", "again: tailrace bench pattern"):
        assert words in said, said


def test_the_result(bench, tmp_path):
    file = tmp_path / "result.json"
    assert bench("--ratio", "0.5,2", "--repeats", "2", "--json", file)[0] == 0
    read = result.load(file)
    assert read.kind == "pattern" and read.settings["devices"] == 1 and read.settings["repeats"] == 2
    assert [point["c_over_w_asked"] for point in read.points] == [0.5, 2.0]
    assert read.measured["write_saturation"]["seconds"] == pytest.approx(10e-3)
    assert read.measured["request"]["seconds"] == pytest.approx(1e-4)
    point = read.points[1]
    assert list(point["series"]) == ["none", "sync", "tailrace alloc", "tailrace write"]
    assert point["compute_seconds"] == pytest.approx(20e-3) and point["write_seconds"] == pytest.approx(10e-3)
    assert point["limit_seconds"] == pytest.approx(16 * 20e-3 + 10e-3)
    alloc = point["series"]["tailrace alloc"]
    assert alloc["model"] == "model2" and alloc["predicted_seconds"] == pytest.approx(16 * 20.1e-3 + 10e-3)
    assert alloc["deviation"] == pytest.approx(0, abs=1e-9) and len(alloc["runs"]) == 2
    assert alloc["summary"]["overlap"]["median"] == pytest.approx(1 - (16 * 1e-4 + 10e-3) / 160e-3)
    assert point["series"]["tailrace write"]["model"] == "model2_copy"
    assert point["series"]["sync"]["model"] == "sync" and point["series"]["none"]["model"] is None
    for copied in ("tailrace write", "tailrace alloc"):
        assert point["series"][copied]["summary"]["to_limit"]["median"] == pytest.approx(1, abs=0.01)
    assert read.document["command"].startswith("tailrace bench pattern --dir ")


def test_json_to_the_output(bench):
    code, said, told = bench("--ratio", "1", "--repeats", "1", "--json", "-")
    assert code == 0 and result.validate(json.loads(said)).kind == "pattern"
    assert "tailrace alloc" in told


def test_rounds_turn_and_the_first_is_dropped(bench, fake, tmp_path):
    file = tmp_path / "result.json"
    assert bench("--ratio", "1", "--repeats", "3", "--writers", "tailrace-borrow", "--json", file)[0] == 0
    # A probe, and trials that find C, come first.
    assert names(fake.runs()) == ["sync", "none", "none", "none",
                                  "none", "sync", "tailrace borrow",  # the warm-up
                                  "sync", "tailrace borrow", "none",
                                  "tailrace borrow", "none", "sync",
                                  "none", "sync", "tailrace borrow"]
    series = result.load(file).points[0]["series"]
    assert [len(one["runs"]) for one in series.values()] == [3, 3, 3]


def test_the_work_follows_from_what_was_asked(bench, fake):
    assert bench("--ratio", "0.5,2", "--repeats", "1")[0] == 0
    passes = {run.split("--passes ")[1].split()[0] for run in fake.runs()[1:]}
    assert passes == {"5", "20"}
    assert bench("--compute-time", "40ms", "--repeats", "1")[0] == 0
    assert "--passes 40 " in fake.runs()[-1]


def test_options_reach_the_program(bench, fake, tmp_path):
    trace = tmp_path / "trace.json"
    code, said, _ = bench("--dir", tmp_path / "second", "--ratio", "1", "--repeats", "1", "--kernel", "jacobi",
                          "--threads", "2", "--memory", "static", "--variables", "2", "--queue-depth", "4",
                          "--iterations", "5", "--trace", trace, "--writers", "tailrace-borrow-unpinned-malloc")
    assert code == 0 and trace.is_file() and "excess ms" in said and "v1" in said
    last = fake.runs()[-1]
    for words in ("--compute jacobi", "--threads 2", "--memory static", "--variables 2", "--queue-depth 4",
                  "--iterations 5", "--write tailrace --verb borrow --pin none --buffers malloc", "--trace"):
        assert words in last
    assert last.count("--dir ") == 2 and "--trace" not in fake.runs()[-2]


def test_nothing_is_left(bench, tmp_path):
    assert bench("--ratio", "1", "--repeats", "1", directory=tmp_path / "new/deep")[0] == 0
    assert not (tmp_path / "new").exists()
    there = tmp_path / "there"
    there.mkdir()
    (there / "mine").touch()
    assert bench("--ratio", "1", "--repeats", "1", directory=there)[0] == 0
    assert [entry.name for entry in there.iterdir()] == ["mine"]


def test_keep(bench, fake, tmp_path):
    code, said, _ = bench("--ratio", "1,2", "--repeats", "2", "--keep")
    (kept,) = (tmp_path / "out").iterdir()
    assert code == 0 and f"files:    {kept}" in said
    assert {entry.name for entry in kept.iterdir()} >= {"sync", "tailrace-alloc"}
    # Only of the last round at each C/W: the kept files must fit.
    assert sum("--keep" in run for run in fake.runs()) == 2 * 4
    assert [entry.name for entry in (kept / "sync").iterdir()] == ["block"]


def test_the_ablation(bench, fake, tmp_path):
    file = tmp_path / "result.json"
    code, said, _ = bench("--ablation", "--repeats", "2", "--json", file)
    assert code == 0 and "naive (posix-aio)" in said and "the same runs as 'pinned'" in said
    read = result.load(file)
    assert [rung["name"] for rung in read.ablation][:3] == ["naive (posix-aio)", "unpinned", "pinned"]
    assert len(read.ablation) == 9 and list(read.points[0]["series"]) == ["none", "sync"]
    assert read.points[0]["c_over_w_asked"] == 1.0
    assert len(fake.runs()) == 4 + 3 * 9  # the default is on three rungs, and runs once a round
    modelled = {rung["name"]: rung["series"]["model"] for rung in read.ablation}
    assert modelled["buffered"] is None and modelled["direct"] == "model2"


def test_a_writer_that_fails_does_not_stop_the_others(bench, fake, tmp_path):
    fake.mood("fail:sync-hdf5")
    file = tmp_path / "result.json"
    code, said, _ = bench("--ratio", "1", "--repeats", "1", "--json", file, "--writers", "sync-hdf5,tailrace-alloc")
    assert code == 0 and "sync-hdf5 failed" in said and "it has no luck today" in said
    series = result.load(file).points[0]["series"]
    assert "no luck" in series["sync-hdf5"]["error"] and "summary" in series["tailrace alloc"]


@pytest.mark.parametrize("mood, told", [
    ("fail:run", "exit code 1: pattern: it has no luck today"), ("fail:measure", "measure regression"),
    ("garbage", "expected a JSON document")])
def test_a_failing_program_is_explained(bench, fake, tmp_path, mood, told):
    fake.mood(mood)
    code, _, complaint = bench("--ratio", "1")
    assert code == 1 and told in complaint and str(fake.path) in complaint
    assert not (tmp_path / "out").exists()


def test_a_missing_program_is_explained(tmp_path, capsys):
    assert cli.main(["bench", "pattern", "--pattern", str(tmp_path / "no"), "--dir", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err
    assert "make build" in told and str(tmp_path / "no") in told and not (tmp_path / "out").exists()


def test_a_directory_that_cannot_be_written_to(bench, tmp_path):
    (tmp_path / "file").touch()
    code, _, told = bench(directory=tmp_path / "file")
    assert code == 1 and f"{tmp_path / 'file'}" in told and "--dir" in told
    code, _, told = bench(directory="/proc/none")
    assert code == 1 and "/proc/none" in told


def test_too_little_room(bench, small_disk):
    code, _, told = bench("--bytes", "4MiB", directory=small_disk)
    assert code == 1 and "not enough room" in told and "expected 70 MiB" in told
    assert not list(small_disk.iterdir())


def test_a_result_that_could_not_be_written(bench, fake, tmp_path):
    code, _, told = bench("--json", tmp_path / "no/result.json")
    assert code == 1 and "directory that exists" in told and not (tmp_path / "program/log").exists()


@pytest.mark.parametrize("arguments, told", [
    (["--ratio", "0"], "above 0"), (["--ratio", "1,-2"], "above 0"), (["--ratio", "nan"], "above 0"),
    (["--ratio", "fast"], "above 0"), (["--ratio", ""], "above 0"), (["--compute-time", "0s"], "more than 0"),
    (["--compute-time", "-1s"], "more than 0"), (["--compute-time", "0.4"], "unit"), (["--bytes", "64"], "unit"),
    (["--bytes", "1B"], "64B"), (["--writers", "carrier-pigeon"], "tailrace-VERB"), (["--writers", ""], "expected"),
    (["--writers", "tailrace-alloc-fast"], "-unpinned"), (["--writers", "tailrace-alloc-malloc"], "borrow only"),
    (["--writers", "tailrace-alloc-unpinned-unpinned"], "once"), (["--repeats", "0"], "1 to"),
    (["--ratio", "1", "--sweep"], "not allowed"), (["--ablation", "--writers", "sync"], "not allowed"),
    (["--ablation", "--sweep"], "one C/W"), (["--bytes", "64B", "--variables", "3"], "shared evenly"),
    (["--kernel", "sleep"], "found 'sleep', expected one of"), ([], "")])
def test_wrong_usage(bench, capsys, fake, arguments, told):
    if not arguments:
        with pytest.raises(SystemExit) as stopped:
            cli.main(["bench"])
    else:
        with pytest.raises(SystemExit) as stopped:
            bench(*[f"{arguments[0]}={arguments[1]}", *arguments[2:]] if len(arguments) > 1 and
                  not arguments[1].startswith("--") else arguments)
    assert stopped.value.code == 2
    assert told in " ".join(capsys.readouterr().err.split())


def test_measure(fake, tmp_path):
    said = []
    found = measure.measure([tmp_path / "a", tmp_path / "b"], MIB, path=fake.path,
                            progress=said.append)
    assert found.write_regression.slope == pytest.approx(10e-3) and found.write_saturation.dropped > 0
    assert found.request.slope == pytest.approx(1e-4) and found.copy.slope == pytest.approx(1e-3)
    assert len(said) == 4 and not (tmp_path / "a").exists()
    assert set(found.document()) == {"write_regression", "write_saturation", "write_saturation_busy",
                                     "write_saturation_copy", "write_copy", "request", "copy"}


@pytest.fixture
def pattern():
    path = pathlib.Path(os.environ.get("TAILRACE_TEST_PATTERN", PATTERN))
    if not path.is_file():
        pytest.skip(f"the program `pattern` is not built: {path}")
    return path


def test_the_real_program(tmp_path, capsys, pattern):
    file, trace = tmp_path / "result.json", tmp_path / "trace.json"
    assert cli.main(["bench", "pattern", "--quick", "--dir", str(tmp_path / "out"), "--pattern", str(pattern),
                     "--variables", "2", "--json", str(file), "--trace", str(trace), "--writers",
                     "sync-hdf5,posix-aio,tailrace-alloc,tailrace-write,tailrace-borrow,tailrace-write-forwarded,"
                     "tailrace-borrow-forwarded"]) == 0
    said = capsys.readouterr().out
    assert "× the limit" in said and "failed" not in said and "excess" in said
    series = result.load(file).points[0]["series"]
    assert len(series) == 9 and all(len(one["runs"]) == 2 for one in series.values())
    assert len({run["result_hash"] for one in series.values() for run in one["runs"]}) == 1
    assert json.loads(trace.read_text())["otherData"]["tailrace_trace"] == 1
    assert not (tmp_path / "out").exists()


def test_the_real_ablation(tmp_path, capsys, pattern):
    file = tmp_path / "result.json"
    assert cli.main(["bench", "pattern", "--quick", "--ablation", "--dir", str(tmp_path / "out"), "--pattern",
                     str(pattern), "--json", str(file)]) == 0
    assert "failed" not in capsys.readouterr().out
    assert len(result.load(file).ablation) == 9


def test_beside_busy_loops(bench, fake, tmp_path):
    file = tmp_path / "busy.json"
    code, said, complaints = bench("--busy", "0,2", "--repeats", "2", "--json", file)
    assert (code, complaints) == (0, "")
    for words in ("alone: alloc, place thread / synchronous", "2 busy loops: borrow, place core / synchronous",
                  "bars kept: 12 of 12", "--ratio 1 --busy 0,2"):
        assert words in said, said
    document = json.loads(file.read_text())
    assert document["tailrace_bars"] == 1 and len(document["bars"]) == 2 * 7
    assert document["command"].startswith("tailrace bench pattern --dir ")
    assert document["command"].endswith("--ratio 1 --busy 0,2")
    write = next(bar for bar in document["bars"] if bar["name"] == "alone: write, place core / synchronous")
    # C = W = 10 ms, 16 iterations: synchronous 0.32 s; tailrace 16 × (10 + 1.1) + 10 ms.
    assert write["median"] == pytest.approx(0.1876 / 0.32) and write["bar"] == 1 and write["count"] == 2
    runs = fake.runs()[3:]  # without those that measure W
    assert len(runs) == 2 * 3 * 7 and sum("--place core" in run for run in runs) == 2 * 3 * 3
    orders = {tuple(names(runs[at:at + 7])) for at in range(0, len(runs), 7)}
    assert len(orders) == 3, "each round has an order of its own"
    assert not list((tmp_path / "out").glob("*")), "nothing is left"


@pytest.mark.parametrize("options, complaint", [
    (("--busy", "-1"), "expected a number from 0 to 1024"), (("--busy", "1,x"), "expected a number from 0 to 1024"),
    (("--busy", "1", "--sweep"), "--sweep"), (("--busy", "1", "--ratio", "1,2"), "runs at one C/W"),
    (("--busy", "1", "--trace", "file"), "not allowed with argument --trace"),
    (("--busy", "1", "--writers", "none"), "not allowed with argument")])
def test_what_does_not_go_with_busy_loops(bench, capsys, options, complaint):
    with pytest.raises(SystemExit) as ended:
        bench(*options)
    assert ended.value.code == 2 and complaint in capsys.readouterr().err


def test_busy_loops_end_with_their_maker(tmp_path):
    """Also if it is killed: then nobody can end them but the system."""
    program_ = ("import os, signal\nfrom tailrace_lab.bench.busy_loops import BusyLoops\n"
                "with BusyLoops(2) as loops:\n"
                "    print(*loops.processes(), flush=True)\n    os.kill(os.getpid(), signal.SIGKILL)\n")
    said = subprocess.run([sys.executable, "-c", program_], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    loops = [int(word) for word in said.stdout.split()]
    assert said.returncode == -signal.SIGKILL and len(loops) == 2, said.stderr
    for loop in loops:
        _await_end(loop)


def _await_end(process):
    """Waits until the process has ended, also if nobody has waited for it yet."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], 30)[0], "it lives on"
    finally:
        os.close(descriptor)


def test_a_busy_loop_that_ends_is_a_failure():
    with pytest.raises(program.Failed, match="ended while"), BusyLoops(1) as loops:
        os.kill(loops.processes()[0], signal.SIGKILL)
        _await_end(loops.processes()[0])
