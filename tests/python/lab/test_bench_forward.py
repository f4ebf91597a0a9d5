"""`tailrace bench forward`: a real, tiny run."""

import json
import pathlib

import pytest
from tailrace import cli
from tailrace.cli import forwarder
from tailrace_lab.bench import forward, forward_overlap, machine, namespaces, program, student, testbed

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture
def forward_bench():
    path = REPOSITORY / "build/release/lab/forward/forward_bench"
    if not path.is_file():
        pytest.skip(f"the program is not built: {path}")
    try:
        forwarder.find()
    except forwarder.Missing as missing:
        pytest.skip(str(missing))
    return path


def test_the_real_study(tmp_path, capsys, forward_bench):
    file = tmp_path / "result.json"
    assert cli.main(["bench", "forward", "--quick", "--dir", str(tmp_path / "out"), "--program", str(forward_bench),
                     "--json", str(file)]) == 0
    said = capsys.readouterr().out
    assert "bars kept" in said and "over TCP" in said and "TLS alone, into a file" in said
    assert "computes as long as it writes" in said and "computing as long as writing, beside the limit" in said
    document = json.loads(file.read_text())
    assert [bar["bar"] is not None for bar in document["bars"]].count(True) == (5 if machine.cpus() >= 3 else 3)
    assert all(bar["count"] == forward.QUICK.repeats and bar["least"] > 0 for bar in document["bars"])
    assert not (tmp_path / "out").exists()


def test_bars_of_computing_beside_writing():
    """3 iterations of C = 2 s; W = 1 s directly, and 2 s by the forwarder: the limits are 7 and 8 s."""
    runs = {"compute": [6.1], "compute: computing": [6.0], "direct write": [3.0], "direct both": [7.0],
            "direct both: computing": [6.0], "forwarder write": [6.0], "forwarder both": [12.0],
            "forwarder both: computing": [9.0]}
    assert [forward_overlap.limits(runs, way, 3) for way in ("direct", "forwarder")] == [[7.0], [8.0]]
    found = forward_overlap.bars_of(runs, 3, cpus=3)
    assert [bar.values for bar in found] == [[1.5], [1.0], [1.5], [1.0], [1.5], [1.0], [2.0]]
    assert [bar.bar for bar in found] == [1.05, None, None, None, 1, None, None]
    assert not any(bar.note for bar in found)
    shared = forward_overlap.bars_of(runs, 3, cpus=2)
    assert not any(bar.bar for bar in shared) and shared[0].note.startswith("2 processors")


def test_without_the_transports_program_that_is_said(tmp_path, capsys, monkeypatch, forward_bench):
    monkeypatch.setattr(forward, "_TRANSPORT", tmp_path / "nothing")
    assert cli.main(["bench", "forward", "--quick", "--dir", str(tmp_path / "out"),
                     "--program", str(forward_bench)]) == 0
    said = capsys.readouterr().out
    assert "the transport alone: not measured: it is in a build" in said and "TLS alone" in said


def test_a_program_that_is_missing(tmp_path, capsys):
    assert cli.main(["bench", "forward", "--program", str(tmp_path / "nothing"), "--dir", str(tmp_path)]) == 1
    assert "forward_bench` is not at" in capsys.readouterr().err


@pytest.fixture
def forward_testbed():
    path = REPOSITORY / "build/release/lab/inside/forward_testbed/forward_testbed"
    if not path.is_file():
        pytest.skip(f"the program is not built: {path}")
    return path


@pytest.mark.parametrize("options", [[], ["--write", "--pattern", "files", "--disk", "flash"]], ids=["read", "write"])
def test_schedulers_of_real_forwarders(tmp_path, capsys, monkeypatch, forward_testbed, options):
    # UCX of tests beside this one would take the virtual cards of namespaces, which vanish.
    monkeypatch.setattr(namespaces, "_ip", _refuse)
    file = tmp_path / "schedulers.json"
    assert cli.main(["bench", "forward", "--schedulers", "--quick", "--program", str(forward_testbed), "--json",
                     str(file), *options]) == 0
    document = check_schedulers(file, capsys.readouterr().out)
    assert document["network"] == "loopback" and document["no_namespaces"] == "not here"
    picture = tmp_path / "schedulers.png"
    assert cli.main(["plot", str(file), "--out", str(picture)]) == 0
    assert picture.stat().st_size > 1000


def test_survey_of_access_patterns(tmp_path, capsys, monkeypatch, forward_testbed):
    monkeypatch.setattr(namespaces, "_ip", _refuse)
    file = tmp_path / "survey.json"
    assert cli.main(["bench", "forward", "--survey", "--quick", "--repeats", "1", "--disk", "flash", "--program",
                     str(forward_testbed), "--json", str(file)]) == 0
    found = json.loads(file.read_text())["cases"]
    assert [(case["write"], case["pattern"]) for case in found] == [
        (write, pattern) for write in (False, True) for pattern in ("strided", "contiguous", "files")]
    assert all(line["seconds"] > 0 and line["simulated"] > 0 for case in found for line in case["lines"])
    said = capsys.readouterr().out
    assert "writes, contiguous, 4 KiB, 2 processes" in said and "say nothing" in said


def test_the_survey_has_its_own_patterns(capsys):
    with pytest.raises(SystemExit):
        cli.main(["bench", "forward", "--survey", "--pattern", "files"])
    assert "--pattern: --survey has its own" in capsys.readouterr().err


def check_schedulers(file, said):
    document = json.loads(file.read_text())
    assert [line["schedule"] for line in document["lines"]] == ["no forwarding", "fifo", "hbrr", "twins 8 ms",
                                                                "adaptive"]
    assert all(line["seconds"] > 0 and len(line["each"]) == 2 for line in document["lines"])
    assert all(line["simulated"] > 0 for line in document["lines"])
    assert "fastest first, simulated" in said and "say nothing" in said
    return document


def _refuse(*_):
    raise namespaces.Unavailable("not here")


def test_options_of_schedulers_need_it(capsys):
    with pytest.raises(SystemExit):
        cli.main(["bench", "forward", "--clients", "3"])
    assert "--clients is an option of --schedulers" in capsys.readouterr().err


@pytest.mark.parametrize("degrees, t", [(1, 212.205), (7, 4.442), (30, 3.230)])
def test_students_quantile(degrees, t):
    """The values are scipy.stats.t.ppf(0.9985, degrees)."""
    assert student.quantile(0.997, degrees) == pytest.approx(t, rel=1e-3)
    assert student.half_interval([2.0]) == 0.0


def test_the_testbeds_settings_are_the_papers():
    settings = testbed.Settings()
    assert (settings.clients, settings.request, settings.forwarders, settings.repeats) == (128, 32768, 4, 8)
