"""`tailrace demo`: its figures from made-up reports, its words, what it removes, and a tiny run of the real thing."""

import json
import os
import pathlib

import pytest
from tailrace import cli
from tailrace.cli import demo_numbers, demo_plot_time, demo_runs, demo_table
from tailrace.unrest import Unrest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
TSUNAMI = REPOSITORY / "build/release/apps/tsunami/tsunami"
MIB = 1 << 20


def report(kind, computing, waiting):
    """A run of four outputs of 8 MiB."""
    timeline, now = [], 0.0
    for iteration in range(4):
        for part, seconds in (("compute", computing / 4), ("output", waiting / 4)):
            timeline.append({"kind": part, "iteration": iteration, "start": now, "end": now + seconds})
            now += seconds
    counters = {"memory_peak": 16.0 * MIB, "memory_budget": 17.0 * MIB} if kind == "tailrace" else {}
    return {"output": kind, "description": f"writes as {kind}", "seconds_total": computing + waiting,
            "seconds_computing": computing, "seconds_waiting": waiting, "outputs": 4, "bytes": 32.0 * MIB,
            "peak_rss_bytes": 100.0 * MIB, "counters": counters, "timeline": timeline}


def a_round(none=4.0, hdf5=(4.2, 2.0), tailrace=(4.1, 0.5)):
    return {"none": report("none", none, 0.0), "hdf5": report("hdf5", *hdf5),
            "tailrace": report("tailrace", *tailrace)}


# Design §8, with one device.
@pytest.mark.parametrize("compute, write, iterations, expected", [
    (1.0, 0.5, 1, 1.5), (1.0, 0.5, 4, 4.5), (0.5, 1.0, 4, 4.5), (1.0, 1.0, 16, 17.0), (2.0, 0.0, 3, 6.0)])
def test_the_limit(compute, write, iterations, expected):
    assert demo_numbers.limit(compute, write, iterations) == pytest.approx(expected)


def test_numbers_of_one_round():
    numbers = demo_numbers.evaluate([a_round()])
    assert (numbers.outputs, numbers.bytes_per_output) == (4, 8 * MIB)
    assert (numbers.compute_per_output, numbers.write_per_output) == (1.0, 0.5)
    assert numbers.limit == pytest.approx(4.5)
    assert numbers.written_by == "writes as hdf5"
    way = numbers.ways["tailrace"]
    assert way.overlap.median == pytest.approx(0.75)
    assert way.to_limit.median == pytest.approx(4.6 / 4.5)
    assert way.slowdown.median == pytest.approx(0.025)
    assert (way.held, way.budget, way.resident) == (16 * MIB, 17 * MIB, 100 * MIB)
    assert numbers.ways["hdf5"].overlap is None and numbers.ways["hdf5"].held is None


def test_numbers_are_medians_and_spreads():
    numbers = demo_numbers.evaluate([a_round(), a_round(none=4.4, tailrace=(9.0, 1.0)), a_round(none=3.9)])
    assert numbers.compute_per_output == 1.0
    total = numbers.ways["tailrace"].total
    assert (total.median, total.least, total.most) == pytest.approx((4.6, 4.6, 10.0))
    assert numbers.ways["tailrace"].overlap.least == pytest.approx(0.5)


def test_a_run_without_waiting_divides_by_nothing():
    numbers = demo_numbers.evaluate([a_round(hdf5=(4.0, 0.0), tailrace=(4.0, 0.0))])
    assert numbers.ways["tailrace"].overlap is None
    assert "no less" in demo_table.conclusion(numbers)


def test_the_typical_run_is_the_one_in_the_middle():
    runs = [report("hdf5", seconds, 0.0) for seconds in (9.0, 1.0, 3.0)]
    assert demo_numbers.typical(runs)["seconds_total"] == 3.0


def test_the_table(capsys):
    demo_table.show(demo_numbers.evaluate([a_round(), a_round(none=4.1)]), "on a thread")
    said = capsys.readouterr().out
    for words in ("4 outputs of 8 MiB", "median (least … most) of 2 rounds", "output overlap OO, %", "75.0",
                  "16.0 of 17.0", "C + W + (n − 1)·max(C, W)", "writes as hdf5", "tailrace: on a thread"):
        assert words in said


def test_the_conclusion_is_honest():
    good = demo_table.conclusion(demo_numbers.evaluate([a_round()]))
    assert "4.60 s instead of 6.20 s (26 % less): 75.0 % of the time spent waiting for output is gone" in good
    assert "2.5 % slower than without output" in good and "1.02 × the limit" in good
    bad = demo_table.conclusion(demo_numbers.evaluate([a_round(tailrace=(6.0, 3.0))]))
    assert "slower here: it took 9.00 s instead of 6.20 s (45 % more)" in bad and "waited no less" in bad


def test_doubts():
    calm = demo_numbers.evaluate([a_round(), a_round()])
    assert demo_table.doubts(calm) == []
    busy = demo_table.doubts(demo_numbers.evaluate([a_round(), a_round(none=8.0)]))
    assert any("busy" in line and "without output" in line for line in busy)
    assert any("One round" in line for line in demo_table.doubts(demo_numbers.evaluate([a_round()])))
    quiet, host = Unrest(0.0, 0.5, 1.5, 2), Unrest(0.25, 0.5, 1.5, 2)
    full, built = Unrest(0.0, 8.25, 9.0, 2), Unrest(0.0, 2.9, 2.4, 2)  # built: after make -j3
    slow = a_round(tailrace=(6.0, 3.0))
    for seen, rounds, words in ((quiet, [a_round()] * 2, None), (built, [a_round()] * 2, None),
                                (host, [a_round()] * 2, "host took 25.0 % of the processors' time"),
                                (full, [a_round()] * 2, "load was 8.2 before and 9.0 after, on 2 processors"),
                                (full, [a_round(), a_round(none=8.0)], "load was 8.2 before"),
                                (quiet, [slow] * 2, "load was 0.5 before")):
        said = " ".join(demo_table.doubts(demo_numbers.evaluate(rounds, seen)))
        assert words in said and "Repeat it on a quiet machine" in said if words else not said
    below = demo_table.doubts(demo_numbers.evaluate([a_round(tailrace=(1.0, 0.0))] * 2))
    assert any("Below the limit" in line for line in below)


def test_timelines():
    one = report("hdf5", 4.0, 2.0)
    assert demo_plot_time.intervals(one, "output")[0] == pytest.approx((1.0, 0.5))
    assert demo_plot_time.intervals(one, "compute", "output") == [pytest.approx((0.0, 6.0))]
    assert demo_plot_time.waits(one) == pytest.approx([500.0] * 4)
    for event, seconds in zip(one["timeline"][1::2], (0.3, 0.3, 1.8, 1.8)):
        event["counters"] = {"seconds_writing": seconds}
    shares = demo_plot_time.writing(one)
    assert shares[0] == pytest.approx((0.0, 1.5, 0.2))
    assert [share for _, _, share in shares] == pytest.approx([0.2, 0.0, 1.0, 0.0])


def test_a_missing_solver_is_explained(tmp_path, capsys):
    assert cli.main(["demo", "--tsunami", str(tmp_path / "no"), "--dir", str(tmp_path / "demo")]) == 1
    said = capsys.readouterr().err
    assert "make build" in said and str(tmp_path / "no") in said
    assert not (tmp_path / "demo").exists()


def test_a_failing_solver_is_explained(tmp_path, capsys):
    program = tmp_path / "tsunami"
    program.write_text("#!/bin/sh\nprintf '\\rnone [#...]  25 %%  step 1 of 4 \\ntsunami: no luck\\n' >&2\nexit 3\n")
    program.chmod(0o755)
    assert cli.main(["demo", "--quick", "--tsunami", str(program), "--dir", str(tmp_path / "demo")]) == 1
    said = capsys.readouterr().err
    assert "exit code 3" in said and "tsunami: no luck" in said and "step 1 of 4" not in said


@pytest.mark.parametrize("rounds", ["0", "-1", "many"])
def test_wrong_rounds(rounds):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["demo", f"--rounds={rounds}"])
    assert stopped.value.code == 2


@pytest.fixture
def tsunami():
    path = pathlib.Path(os.environ.get("TAILRACE_TEST_TSUNAMI", TSUNAMI))
    if not path.is_file():
        pytest.skip(f"the solver is not built: {path}")
    return path


def test_a_quick_demonstration(tmp_path, capsys, tsunami):
    directory = tmp_path / "demo"
    old = directory / "tailrace"
    old.mkdir(parents=True)
    (old / "tsunami_c0_000999.h5").write_text("of an earlier demonstration")
    (old / "mine.h5").write_text("not the demonstration's")
    command = ["demo", "--quick", "--dir", str(directory), "--tsunami", str(tsunami), "--json", str(tmp_path / "j")]
    assert cli.main(command) == 0
    said = capsys.readouterr().out
    assert "h5py opens all 8" in said and "× the limit" in said and "storage" in said
    page = directory / "report.html"
    assert said.splitlines()[-1] == f"report:   {page}" and "no measurement" in page.read_text()
    assert page.read_text().count("data:image/png;base64,") == 2
    document = json.loads((tmp_path / "j").read_text())
    assert document["rounds"] == 1 and len(document["files"]) == 8 and "limit" in document["conclusion"]
    assert all(pathlib.Path(file).is_file() for file in document["files"])
    assert 0 <= document["unrest"]["stolen"] <= 1 and document["unrest"]["processors"] >= 1
    for picture in document["pictures"]:
        assert pathlib.Path(picture).read_bytes().startswith(b"\x89PNG")
    for name, kind in (("tsunami_c0.trace.json", "timeline"), ("tsunami_c0.stats.json", "busy")):
        assert cli.main(["plot", str(old / name), "--out", str(tmp_path), "--format", "png"]) == 0
        assert (tmp_path / f"tsunami_c0_{kind}.png").exists()
        assert cli.main(["report", str(old / name), "--out", str(tmp_path)]) == 0
    assert cli.main(["plot", str(directory / "tailrace.json")]) == 1
    assert "its trace is in the folder tailrace" in capsys.readouterr().err
    assert (old / "mine.h5").exists() and not (old / "tsunami_c0_000999.h5").exists()
    assert not (directory / "hdf5").exists()

    assert cli.main([*command, "--keep", "--rounds", "2"]) == 0
    assert len(list((directory / "hdf5").glob("tsunami_*.h5"))) == 8
    assert len(list(old.glob("tsunami_c0_*.h5"))) == 8


def test_old_files_are_replaced_and_nothing_else(tmp_path):
    directory = tmp_path / "tailrace"
    directory.mkdir()
    ours = ["tsunami_000001.h5", "tsunami_c0_000001.h5.part", "bathymetry.npy", ".tsunami_c0.lock",
            "tsunami_c0.stats.json", "tsunami_c0.trace.json"]
    theirs = ["tsunami.h5", "tsunami_c0_1.h5", "tsunami_c0_000001.h5.bak", "notes"]
    for name in ours + theirs:
        (directory / name).touch()
    demo_runs.clear(directory)
    assert sorted(os.listdir(directory)) == sorted(theirs)
