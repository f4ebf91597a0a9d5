"""`tailrace predict`: its output for people and programs, and its messages on bad input."""

import functools
import json
import sys

import pytest
from tailrace_lab.bench import fit, measure

GIVEN = ("--compute", "0.4s", "--bytes", "256MiB", "--bandwidth", "2GB/s")


@pytest.fixture
def run(run):
    return functools.partial(run, "predict")


@pytest.fixture
def document(run):
    def call(*arguments):
        code, text, message = run(*arguments, "--json")
        assert (code, message) == (0, "")
        return json.loads(text)

    return call


def test_for_people(run):
    code, text, message = run(*GIVEN, "--cores", 24)
    assert (code, message) == (0, "")
    for said in ("writing W          134 ms   256 MiB at 2 GB/s",
                 "copying            26.8 ms  256 MiB at 10 GB/s, assumed",
                 "100 iterations, C/W 2.98, 1 device; the limit is 40.1 s.",
                 "sync    –                 53.4 s  –       1.33",
                 "Use place thread with alloc and commit: 40.1 s instead of 53.4 s, 24.9 % less than synchronously",
                 "the next best, place core with alloc and commit, would take 4.33 % longer.",
                 "A dedicated core of 24 is worth it from 4.35 % of the computing time in output (here 33.6 %)",
                 "C/W        1 (C = 134 ms)", "bytes      763 MiB", "cores      5", "slow-down  4.35 %"):
        assert said in text


def test_for_programs(document):
    found = document(*GIVEN, "--cores", 24, "--variables", 2, "--request", "1ms")
    assert found["tailrace_prediction"] == 1
    assert found["input"]["write_seconds"] == pytest.approx(2**28 / 2e9)
    assert found["input"]["copy_seconds"] == pytest.approx(2**28 / 10e9)
    assert [(one["place"], one["verb"]) for one in found["predictions"]] == [
        ("sync", None), ("thread", "alloc"), ("thread", "write"), ("core", "alloc")]
    models = found["models"]
    assert models["model2"] == pytest.approx(models["model1"] + 100 * 2 * 0.001)
    assert found["limit_seconds"] < models["model1"]  # the first variable is written while the second is computed
    assert found["advice"]["place"] == "thread" and found["advice"]["sentence"].startswith("Use place thread")
    assert found["memory_bytes"] == 2 * 2**28
    assert {one["axis"] for one in found["crossovers"]} == {"C/W", "bytes", "cores", "slowdown"}
    assert found["inequalities"]["core"]["holds"] and "shield" not in found


def test_the_ratio_instead_of_the_computing_time(document):
    found = document("--c-over-w", 1, "--bytes", "50MB", "--bandwidth", "3.125GB/s", "--iterations", 4)
    assert found["input"]["compute_seconds"] == pytest.approx(0.016)
    assert found["models"]["sync"] == pytest.approx(8 * 0.016)
    assert found["models"]["model1"] == pytest.approx(5 * 0.016)


def test_devices_and_places(document, run):
    found = document(*GIVEN, "--devices", 4, "--place", "thread", "--cores", 24)
    assert [one["place"] for one in found["predictions"]] == ["sync", "thread", "thread"]
    assert found["memory_bytes"] == 5 * 2**28
    code, text, _ = run(*GIVEN, "--cores", 1)
    assert code == 0 and "Place core: with one core there is none to dedicate." in text and "\ncore " not in text


def test_little_output_is_not_worth_a_change(run):
    code, text, _ = run("--compute", "60s", "--bytes", "256MiB", "--bandwidth", "2GB/s")
    assert code == 0 and "Stay synchronous: the quickest, place thread with alloc and commit, would save only" in text


# ---- bad input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("arguments", "said"), [
    (["--bandwidth", "2"], "--bandwidth: expected a rate with a unit (B/s, kB/s"),
    (["--bandwidth", "2GB"], "did you mean GB/s?"),
    (["--bandwidth", "0GB/s"], "--bandwidth: expected a rate above zero, found '0GB/s'"),
    (["--bandwidth", "-2GB/s"], "--bandwidth: expected a rate above zero, found '-2GB/s'"),
    (["--compute", "0s"], "--compute: expected a time above zero, found '0s'"),
    (["--compute", "-1s"], "--compute: expected a time above zero, found '-1s'"),
    (["--compute", "0.4"], "--compute: expected a time with a unit (ns, us"),
    (["--bytes", "0 B"], "--bytes: expected a size above zero, found '0 B'"),
    (["--bytes", "lots"], "--bytes: expected a size such as 256MiB, found 'lots'"),
    (["--iterations", "0"], "--iterations: expected a whole number, 1 or more and below 10^9, found '0'"),
    (["--iterations", "1.5"], "--iterations: expected a whole number"),
    (["--iterations", "-3"], "--iterations: expected a whole number"),
    (["--devices", "0"], "--devices: expected a whole number"),
    (["--slowdown", "2"], "--slowdown: expected a percentage, 0% or more, such as 2%, found '2'"),
    (["--slowdown", "-2%"], "--slowdown: expected a percentage"),
    (["--place", "core"], "--place: core: expected --cores of 2 or more, one to write and the others to compute, "
                          "found no --cores"),
    (["--place", "core", "--cores", "1"], "found --cores 1"),
    (["--cores", "0"], "--cores: expected a whole number, 1 or more"),
    (["--c-over-w", "1"], "not allowed with argument --compute"),
    (["--measure", "out"], "not allowed with argument --bandwidth"),
    (["--samples", "99"], "--samples: expected --measure with it, found none"),
    (["--samples", "9"], "--samples: expected a whole number, 16 or more"),
    (["--write-times", "a=1s"], "--write-times: expected --pst with it"),
    (["--dedicated-write", "1s"], "--dedicated-write: expected --cores with it"),
    (["--pst", "rho=0.1"], "--pst: rho: expected a time with a unit"),
    (["--pst", "rho=1s"], "--pst: rho: expected a PST of at most an iteration, 0.4 s, found 1.0 s"),
    (["--pst", "rho=0.1s", "--handovers", "rho=1s"], "expected a hand-over within the iteration, 0.4 s"),
    (["--pst", "rho=0.1s,U=0.1s", "--iterations", "500001"], "--iterations: expected at most 500000 with --pst"),
    (["--pst", "rho=0.1s,rho=1s"], "--pst: rho: given twice"),
    (["--pst", "rho=0.1s,U"], "--pst: expected NAME=TIME, such as rho=0.3s, found 'U'"),
    (["--pst", "rho=-1s"], "--pst: rho: expected a time of 0 s or more, found '-1s'"),
    (["--pst", "rho=0.1s", "--write-times", "U=1s"], "--write-times: U: expected one of --pst (rho)"),
    (["--pst", "missing.json"], "--pst: missing.json: expected a file, or NAME=TIME,…: No such file")])
def test_wrong_usage(run, arguments, said):
    code, text, message = run(*GIVEN, *arguments)
    assert code == 2 and text == "" and said in message


@pytest.mark.parametrize("ratio", ["0", "-1", "nan", "inf", "much"])
def test_a_ratio_of_zero_or_less(run, ratio):
    code, _, message = run("--c-over-w", ratio, "--bytes", "1MiB", "--bandwidth", "2GB/s")
    assert code == 2 and f"--c-over-w: expected a number above zero, such as 0.5, found '{ratio}'" in message


def test_what_is_missing(run):
    code, _, message = run()
    assert code == 2 and ("expected --compute TIME (or --c-over-w RATIO), --bytes SIZE, --bandwidth RATE "
                          "(or --measure DIR)") in message
    code, _, message = run("--pst", "rho=0.1s")
    assert code == 2 and "--write-times: expected the time to write rho, found none" in message


# ---- single variables -------------------------------------------------------------------------------------


def test_variables_alone(run, document):
    arguments = ("--pst", "rho=0.3s,U=1.2s,p=0.2s", "--write-times", "rho=0.4s,U=0.5s,p=0.1s", "--iterations", 10)
    shield = document(*arguments)["shield"]
    assert [one["name"] for one in shield["variables"]] == ["rho", "U", "p"]
    assert [one["excess_seconds"] for one in shield["variables"]] == pytest.approx([0.1, 0, 0])
    assert [one["wait_seconds"] for one in shield["variables"]] == pytest.approx([0, 0, 8])
    assert shield["overlap"] == pytest.approx(0.2) and shield["best_order"]["names"] == ["p", "rho", "U"]
    code, text, _ = run(*arguments)
    assert code == 0
    assert "the program waits 8 s, instead of 10 s synchronously: 20 % of output overlap." in text
    assert "(p, rho, U), it would wait 2 s." in text


def test_variables_of_a_whole_program(document):
    found = document(*GIVEN, "--iterations", 5, "--pst", "a=0.1s,b=0.4s")
    assert [one["write_seconds"] for one in found["shield"]["variables"]] == pytest.approx([2**28 / 4e9] * 2)
    assert found["shield"]["period_seconds"] == 0.4 and found["predictions"]


def test_variables_from_lines(tmp_path, document):
    file = tmp_path / "pst.txt"
    file.write_text("# name PST write handover\n\nrho 100ms 50ms 0.2s\nU 0.3s 50ms  # at the end\n")
    variables = document("--compute", "0.4s", "--pst", file)["shield"]["variables"]
    assert [one["handover_seconds"] for one in variables] == [0.2, 0.4]
    assert [one["pst_seconds"] for one in variables] == [0.1, 0.3]


def pattern_run(**changes):
    each = [{"name": f"v{index}", "pst_seconds": [0.3, 0.2, 0.25], "write_seconds": [0.1, None, 0.1, 0.1],
             "excess_seconds": [0, 0, 0]} for index in range(2)]
    return {"pattern_run": 1, "iterations": 4, "seconds_computing": 2.0, "per_variable": each, **changes}


def test_variables_of_a_run(tmp_path, document):
    file = tmp_path / "run.json"
    file.write_text(json.dumps(pattern_run()))
    shield = document("--pst", file)["shield"]
    assert shield["period_seconds"] == 0.5 and document("--pst", file, "--compute", "1s")["shield"][
        "period_seconds"] == 1
    assert [one["handover_seconds"] for one in shield["variables"]] == [0.25, 0.5]
    assert [one["pst_seconds"] for one in shield["variables"]] == [0.25, 0.25]
    assert shield["best_order"] is None and shield["overlap"] > 0.99


@pytest.mark.parametrize(("content", "said"), [
    ("", "expected at least one variable, found none"),
    ("rho\n", "pst.txt:1: expected a name, its PST, its write time"),
    ("rho 1s\n\nrho 2s\n", "pst.txt:3: rho: given twice"),
    ("rho 1s 2\n", "pst.txt:1: rho: expected a time with a unit"),
    ('{"pattern_run": 1,\n', "pst.txt:2: expected JSON, found something else or its end"),
    ('{"pattern_run": 2}', "expected a run of the program `pattern`, \"pattern_run\": 1, found 2"),
    ("{}", "found 'none'"),
    (json.dumps(pattern_run(iterations=0)), "expected seconds_computing, iterations and per_variable"),
    (json.dumps(pattern_run(per_variable=[])), "expected at least one variable"),
    (json.dumps(pattern_run(per_variable=[{"name": "v0", "pst_seconds": [None]}])), "no pst_seconds"),
    (json.dumps(pattern_run(per_variable=7)), "expected seconds_computing, iterations and per_variable")])
def test_files_that_tell_no_variables(tmp_path, run, content, said):
    file = tmp_path / "pst.txt"
    file.write_text(content)
    code, text, message = run("--pst", file, "--write-times", "rho=1s")
    assert code == 2 and text == "" and said in message


def test_a_file_of_bytes_and_a_directory(tmp_path, run):
    file = tmp_path / "pst.bin"
    file.write_bytes(b"\xff\xfe\x00")
    assert "expected text" in run("--pst", file)[2]
    assert "Is a directory" in run("--pst", tmp_path)[2]


# ---- measuring --------------------------------------------------------------------------------------------

PATTERN = """\
#!PYTHON -IS
# Stands in for the program `pattern`: a machine that writes 100 MB/s synchronously and 200 MB/s under load, 160 while
# it computes.
import json, sys

arguments = sys.argv[1:]
what, values = arguments[1], dict(zip(arguments[2::2], arguments[3::2]))
size, count = int(values["--bytes"]), int(values["--count"])
each = {"regression": size / 100e6, "saturation": size / 200e6, "saturation-busy": size / 160e6,
        "saturation-write": size / 190e6, "write-copy": size / 5e9, "req": 1e-6, "copy": size / 5e9}[what]
samples = [[n, 0.5 + each * n] for n in range(1, count + 1)]
print(json.dumps({"pattern_measure": 1, "what": what, "bytes": size, "samples": samples}))
"""


@pytest.fixture
def pattern(tmp_path):
    file = tmp_path / "pattern"
    file.write_text(PATTERN.replace("PYTHON", sys.executable))
    file.chmod(0o755)
    return file


def test_measured(pattern, tmp_path, document):
    found = document("--measure", tmp_path, "--pattern", pattern, "--bytes", "1MB", "--c-over-w", 2)
    assert found["input"]["write_seconds"] == pytest.approx(1 / 160)  # the program computes beside it all the time
    assert found["input"]["sync_write_seconds"] == pytest.approx(0.01)
    assert found["input"]["copy_seconds"] == pytest.approx(0.0002)
    assert found["input"]["request_seconds"] == pytest.approx(1e-6)
    assert found["input"]["compute_seconds"] == pytest.approx(0.01)
    assert found["predictions"][0]["seconds"] == pytest.approx(100 * 0.02)
    assert found["measured"]["write_saturation"]["dropped"] == fit.WARM_UP


def test_the_interval_of_what_was_measured(pattern, tmp_path, document, run):
    # A machine that is slower from one measurement to the next.
    slower = ("import pathlib\ncalls = pathlib.Path(__file__).with_suffix('.calls')\ncalls.open('a').write('.')\n"
              "each *= 1 + calls.stat().st_size / 10\nsamples = [")
    pattern.write_text(pattern.read_text().replace("samples = [", slower))
    arguments = ("--measure", tmp_path, "--pattern", pattern, "--bytes", "1MB", "--compute", "1ms")
    for one in document(*arguments)["predictions"]:
        low, high = one["interval_seconds"]
        assert low < one["seconds"] < high
    assert "from … to" in run(*arguments)[1]
    assert document("--bytes", "1MB", "--compute", "1ms", "--bandwidth", "1GB/s")["predictions"][0][
        "interval_seconds"] is None


def test_what_cannot_be_measured(pattern, tmp_path, run):
    arguments = ("--bytes", "1MB", "--compute", "1s")
    code, text, message = run(*arguments, "--measure", tmp_path, "--pattern", tmp_path / "none")
    assert code == 1 and text == "" and "--measure: the program `pattern` is not at" in message
    file = tmp_path / "file"
    file.write_text("")
    code, text, message = run(*arguments, "--measure", file, "--pattern", pattern)
    assert code == 1 and text == "" and str(file) in message
    code, text, message = run(*arguments, "--measure", tmp_path / "missing" / "out", "--pattern", pattern)
    assert code == 1 and text == "" and f"{tmp_path}/missing/out: found no such directory" in message
    assert not (tmp_path / "missing").exists()


@pytest.fixture
def measured(pattern, monkeypatch):
    """Sets the result of the measurement, and keeps the arguments for it."""
    asked = []

    def come_out(w):
        line = fit.regression([(1, w), (2, 2 * w)])
        monkeypatch.setattr(measure, "measure", lambda directories, bytes_, **options: asked.append(
            (directories, bytes_, options)) or measure.Measured(*[line] * 7))
        return ("--pattern", pattern, "--bytes", "1MB", "--compute", "1s"), asked

    return come_out


def test_a_time_below_zero_is_none(measured, run):
    arguments, _ = measured(-0.001)
    code, text, message = run(*arguments, "--measure", ".")
    assert code == 1 and text == "" and "W by saturation came out as -0.001 s, expected a time above zero" in message


def test_directories_are_devices(measured, document, run, tmp_path, monkeypatch):
    arguments, asked = measured(0.01)
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    arguments = (*arguments, "--measure", "a", "--measure", "b")
    assert document(*arguments, "--samples", 32)["input"]["devices"] == 2
    (directories, size, options), = asked
    assert [str(path) for path in directories] == ["a", "b"] and size == 10**6 and options["count"] == 32
    assert "measured: R² 1.000 over 2 samples, intercept" in run(*arguments)[1]
    assert document(*arguments, "--copy-bandwidth", "1GB/s", "--request", "1us")["input"]["copy_seconds"] == 0.001
    code, _, message = run(*arguments, "--devices", 3)
    assert code == 2 and "--devices: expected 2, as many as directories to measure, found 3" in message
