"""`tailrace plot`: which pictures it draws, where it writes them, and its messages on files that it cannot draw."""

import copy
import json
import pathlib
import xml.etree.ElementTree

import pytest
from tailrace.pictures import gallery, style
from tailrace.pictures.source import Source
from tailrace_lab.pictures import curve, kinds, numbers, words

DATA = pathlib.Path(__file__).parent / "pictures"


@pytest.fixture
def sweep():
    return json.loads((DATA / "sweep.json").read_text())


def saved(directory, document):
    file = directory / "given.json"
    file.write_text(json.dumps(document))
    return file


def is_picture(path):
    if path.suffix == ".png":
        return path.read_bytes().startswith(b"\x89PNG")
    return xml.etree.ElementTree.parse(path).getroot().tag.endswith("svg")


@pytest.mark.parametrize("name, kinds", [
    ("sweep.json", ["curve", "ablation"]), ("peers.json", ["peers"]), ("trace.json", ["timeline"]),
    ("write_times.csv", ["tiles"])])
def test_the_content_says_what_is_drawn(run, tmp_path, name, kinds):
    code, text, message = run("plot", DATA / name, "--out", tmp_path / "new" / "pictures")
    assert (code, message) == (0, "")
    paths = [pathlib.Path(line) for line in text.splitlines()]
    stem = name.split(".")[0]
    assert [path.name for path in paths] == [f"{stem}_{kind}.{end}" for kind in kinds for end in ("png", "svg")]
    assert all(is_picture(path) for path in paths)


def test_one_file_one_kind_one_format(run, tmp_path):
    out = tmp_path / "bars.svg"
    assert run("plot", DATA / "sweep.json", "--kind", "ablation", "--out", out)[:2] == (0, f"{out}\n")
    assert is_picture(out)
    code, text, _ = run("plot", DATA / "sweep.json", "--kind", "peers", "--format", "png", "--out", tmp_path)
    assert code == 0 and text == f"{tmp_path / 'sweep_peers.png'}\n"
    code, _, message = run("plot", DATA / "sweep.json", "--out", tmp_path / "both.png")
    assert code == 2 and "2 pictures" in message and "curve, ablation" in message


def test_files_of_one_name_do_not_overwrite_each_other(run, tmp_path):
    code, text, _ = run("plot", DATA / "peers.json", DATA / "peers.json", "--format", "svg", "--out", tmp_path)
    assert code == 0 and len(set(text.splitlines())) == 2


def test_the_same_data_give_the_same_bytes(run, tmp_path):
    for name in ("a", "b"):
        run("plot", DATA / "sweep.json", "--kind", "curve", "--format", "svg", "--out", tmp_path / name)
    assert (tmp_path / "a/sweep_curve.svg").read_bytes() == (tmp_path / "b/sweep_curve.svg").read_bytes()


@pytest.mark.parametrize("arguments", [
    [], ["--kind", "pie"], ["--format", "pdf"], ["--from", "2", "--to", "1"], ["--from", "soon"], ["--to=-1"]])
def test_wrong_usage(run, arguments):
    files = [DATA / "trace.json"] if arguments else []
    code, text, message = run("plot", *files, *arguments)
    assert code == 2 and text == "" and message.count("\n") == 1 and "--help" in message


@pytest.mark.parametrize("change, said", [
    (lambda result: result.update(tailrace_result=2), ["tailrace_result", "2", "expected 1", "another version"]),
    (lambda result: result.update(kind="cake"), ["kind", "cake", "pattern"]),
    (lambda result: result["points"][3].pop("limit_seconds"), ["points[3].limit_seconds", "expected a number"]),
    (lambda result: result.pop("tailrace_result"), ["a result file (", "write times"]),
    (lambda result: (result["points"].clear(), result.pop("ablation")), ["no points", "expected"])])
def test_results_that_are_none(run, tmp_path, sweep, change, said):
    change(sweep)
    file = saved(tmp_path, sweep)
    for command in ("plot", "report"):
        code, text, message = run(command, file, "--out", tmp_path / "out")
        assert code == 1 and text == "" and message.count("\n") == 1 and str(file) in message
        for word in said:
            assert word in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content, said", [
    ("", ["empty", "a result file ("]), (None, ["No such file", "expected"]), ("{ none }", ["given.json:1:3"]),
    ('{"pattern_run": 1}', ["one run", "a result file ("]), ("17", ["something else", "a result file ("]),
    ('{"a": 1, "tailrace_bars": 3, "bars": []}', ['found "tailrace_bars": 3, with nothing to draw; expected a ']),
    ('{"pitz_daily\\n": [1]}', ['found "pitz_daily\\n": "\\u2026", with nothing to draw']),
    ("[" * 100000, ["expected"]), (b"\x89PNG\xff\x00", ["byte 0", "a result file ("])])
def test_what_is_not_ours(run, tmp_path, content, said):
    file = tmp_path / "given.json"
    if content is not None:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    code, _, message = run("plot", file, "--out", tmp_path)
    assert code == 1 and str(file) in message
    for word in said:
        assert word in message


@pytest.mark.parametrize("name", ["sweep.json", "trace.json"])
def test_a_truncated_file(run, tmp_path, name):
    file = tmp_path / name
    text = (DATA / name).read_text()
    for length in (1, len(text) // 3, len(text) - 3):
        file.write_text(text[:length])
        code, _, message = run("plot", file, "--out", tmp_path)
        assert code == 1 and f"{file}:1:" in message and "truncated" in message


@pytest.mark.parametrize("name, kind, said", [
    ("sweep.json", "tiles", "per-process write times"), ("sweep.json", "timeline", "a trace"),
    ("trace.json", "curve", "points"), ("write_times.csv", "ablation", "ablation"),
    ("peers.json", "ablation", "ablation")])
def test_no_data_for_the_kind(run, tmp_path, name, kind, said):
    code, _, message = run("plot", DATA / name, "--kind", kind, "--out", tmp_path)
    assert code == 1 and f"no data for {kind}" in message and "expected a" in message and said in message


@pytest.mark.parametrize("command", ["plot", "report"])
def test_where_nothing_can_be_written(run, tmp_path, command):
    (tmp_path / "file").write_text("in the way")
    code, _, message = run(command, DATA / "peers.json", "--out", tmp_path / "file" / "deeper" / "x.svg")
    assert code == 1 and str(tmp_path / "file") in message and "expected a directory" in message


def test_what_could_not_run_leaves_a_gap(tmp_path, sweep):
    for point in sweep["points"]:
        point["series"]["posix-aio"] = {"writer": "posix-aio", "error": "out of luck"}
    del sweep["points"][2]["series"]["tailrace write"]
    sweep["ablation"][0]["series"] = {"writer": "posix-aio", "error": "out of luck"}
    for kind in ("curve", "ablation", "peers"):
        (picture,) = gallery.draw([Source(DATA / "sweep.json", kinds.RESULT, sweep)], kind)
        assert style.encode(picture.figure, "png").startswith(b"\x89PNG")
    assert any("posix-aio could not run: out of luck" in line for line in words.summary(sweep))


@pytest.mark.parametrize("count", [1, 2])
def test_few_points(sweep, count):
    sweep["points"] = sweep["points"][:count]
    drawn = gallery.draw([Source(DATA / "sweep.json", kinds.RESULT, sweep)])
    assert [picture.kind for picture in drawn] == ["peers" if count == 1 else "curve", "ablation"]
    (forced,) = gallery.draw([Source(DATA / "sweep.json", kinds.RESULT, sweep)], "curve")
    assert style.encode(forced.figure, "svg")


def test_an_ablation_alone_gives_no_curve(sweep):
    sweep["points"] = sweep["points"][4:5]
    sweep["points"][0]["series"] = {name: sweep["points"][0]["series"][name] for name in ("none", "sync")}
    assert kinds.RESULT.default(sweep) == ["ablation"]


def test_lines_that_lie_on_one_another_share_a_name(sweep):
    _, labels = curve._lines(numbers.points(sweep))
    assert labels == {"limit": "limit = models 1, 2, 3", "sync": "model: synchronous",
                      "model2_copy": "model 2 with copies"}
    for point in sweep["points"]:
        point["models"]["model2"] *= 1.05
        point["models"]["pipelined"] = point["models"]["model1"] * 1.1
    _, labels = curve._lines(numbers.points(sweep))
    assert labels["limit"] == "limit = models 1, 3" and labels["model2"] == "model 2"
    assert labels["pipelined"] == "pipelined"


def test_looks_differ_without_colour():
    looks = style.looks(["tailrace alloc", "sync", "a", "b", "c", "d", "e"])
    assert looks["sync"].color == "#000000"
    assert len({(look.marker, look.face == "white") for look in looks.values()}) == 7
    assert len({look.hatch for look in looks.values()}) == 7


def test_to_limit_is_always_by_the_limit_without_copies(sweep):
    point = copy.deepcopy(sweep["points"][4])
    series = point["series"]["tailrace write"]
    series["summary"]["to_limit"] = dict.fromkeys(series["summary"]["to_limit"], 1.0)
    expected = series["summary"]["total"]["median"] / point["limit_seconds"]
    assert numbers.to_limit(point, series).median == pytest.approx(expected)
    assert numbers.to_limit(None, series).median == 1.0


def test_the_largest_deviation(sweep):
    sweep["points"][0]["series"]["sync"] |= {"deviation": -0.5}
    deviation, name, at, _, _ = numbers.deviations(sweep)[0]
    assert deviation == pytest.approx(-0.5, abs=0.02) and name == "sync"
    assert at == pytest.approx(0.1, rel=0.01)
