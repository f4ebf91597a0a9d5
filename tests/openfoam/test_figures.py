"""What a run with `--summary` and `--trace` reports of its output, and what the commands make of it."""

import json
import re
import shutil

import pytest
from openfoam import carried, cases
from tailrace import cli
from tailrace.cli import run as run_command

pytestmark = pytest.mark.skipif(shutil.which("blockMesh") is None, reason="no OpenFOAM here")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Returns a case that was run, and its trace."""
    folder = tmp_path_factory.mktemp("measured") / "in/case"
    cases.prepare(cases.PITZ_DAILY, folder)
    trace = folder.parents[1] / "it's a run of 100%.json"
    variables = run_command.openfoam_variables(None, "thread", None, {}, True, trace=trace)
    cases.must(cases.solve(cases.PITZ_DAILY), folder, variables)
    return folder, trace


def test_the_table_has_each_object(measured):
    folder, _ = measured
    lines = [line.split() for line in cases.log_of(folder).splitlines() if line.endswith(" %")]
    rows = {line[0]: line for line in lines}
    times = cases.times(folder)[1:]
    for name in ("U", "p", "phi", "UMean"):
        assert int(rows[name][1]) == len(times)
        megabytes = sum((time / name).stat().st_size for time in times) / (1 << 20)
        assert float(rows[name][2]) == pytest.approx(megabytes, abs=0.01)
    assert int(rows["all"][1]) == sum(int(row[1]) for name, row in rows.items() if name != "all")
    assert re.search(r"The program waited [0-9.]+ s\.", cases.log_of(folder))


def test_the_trace_is_drawn(measured, tmp_path, capsys):
    _, trace = measured
    assert cli.main(["plot", str(trace), "--out", str(tmp_path)]) == 0
    assert cli.main(["report", str(trace), "--out", str(tmp_path)]) == 0
    assert (tmp_path / f"{trace.stem}_timeline.png").is_file() and "UMean" in (tmp_path / "report.html").read_text()


def test_the_trace_predicts(measured, capsys):
    _, trace = measured
    assert cli.main(["predict", "--pst", str(trace), "--iterations", "4", "--json"]) == 0
    assert "UMean" in capsys.readouterr().out
    assert cli.main(["predict", "--pst", str(trace), "--iterations", "4"]) == 0
    out = capsys.readouterr().out
    assert "of output overlap" in out and "OpenFOAM's collated format and its thread it would wait" in out


def test_the_trace_predicts_another_interval(measured, capsys):
    """Rare outputs are hidden as well as frequent ones, at least. Collated leaves formatting to the program."""
    _, trace = measured
    found = {}
    for ratio in ("0.001", "1", "1000"):
        assert cli.main(["predict", "--pst", str(trace), "--interval", ratio, "--json"]) == 0
        found[ratio] = json.loads(capsys.readouterr().out)["shield"]
    assert found["1000"]["period_seconds"] == pytest.approx(1000 * found["1"]["period_seconds"])
    assert found["0.001"]["overlap"] <= found["1"]["overlap"] <= found["1000"]["overlap"]
    assert found["1000"]["overlap"] > 0.98 > found["1000"]["collated"]["overlap"]
    with pytest.raises(SystemExit):
        cli.main(["predict", "--pst", "U=1s", "--write-times", "U=1s", "--interval", "2"])
    assert "expected a trace or a run for --pst" in capsys.readouterr().err


def test_a_trace_of_one_output_predicts_nothing(measured, tmp_path, capsys):
    _, trace = measured
    document = json.loads(trace.read_text())
    document["traceEvents"] = [event for event in document["traceEvents"] if event["args"]["iteration"] == 1]
    (tmp_path / "one.json").write_text(json.dumps(document))
    with pytest.raises(SystemExit):
        cli.main(["predict", "--pst", str(tmp_path / "one.json")])
    assert "expected two outputs at least" in capsys.readouterr().err


def test_each_process_has_a_trace(tmp_path):
    folder = tmp_path / "in/case"
    cases.prepare(cases.OBLIQUE_SHOCK, folder, 2)
    trace = tmp_path / "run.json"
    cases.must(cases.solve(cases.OBLIQUE_SHOCK, 2), folder,
               run_command.openfoam_variables(None, "thread", None, {}, True, trace=trace))
    files = [json.loads(path.read_text())["traceEvents"] for path in (trace, tmp_path / "run.json.1")]
    assert [{event["pid"] for event in events} for events in files] == [{0}, {1}]
    log = cases.log_of(folder)
    assert "tailrace: output beside the computing, of all processes; the times are those of the slowest" in log
    rows = {line.split()[0]: int(line.split()[1]) for line in log.splitlines() if line.endswith(" %")}
    times = len(cases.times(folder / "processor0")) - 1
    assert rows["U"] == rows["p"] == 2 * times


def test_a_trace_that_cannot_be_written(tmp_path):
    folder = tmp_path / "in/case"
    cases.prepare(cases.OBLIQUE_SHOCK, folder)
    cases.must(cases.solve(cases.OBLIQUE_SHOCK), folder, {**carried.variables(), "TAILRACE_OPENFOAM": "trace=/no/x"})
    assert "could not write the trace /no/x" in cases.log_of(folder)


def test_a_trace_of_another_door_is_refused(capsys):
    assert cli.main(["run", "--trace", "x.json", "--print"]) == 2
    assert "found --trace without --openfoam" in capsys.readouterr().err
