"""How busy the writer was in each iteration: the statistics, and how they are shown, drawn and reported."""

import json

import numpy as np
import pytest
import tailrace
from tailrace import cli, iterations


def one(number, begun=0.0, period=2.0, busy=0.5, **more):
    """Returns an iteration as in JSON."""
    return {"iteration": number, "outcome": "published", "begun": begun, "ended": begun + 0.1, "left": begun + 0.4,
            "period": period, "busy": busy, "writing": busy, "filtering": 0.0, "waited": 0.0, "bytes_taken": 1000,
            "bytes_stored": 500, "chunks_filtered": 0, "chunks_relaxed": 0, "chunks_skipped": 0} | more


def some(count=6):
    found = [one(k, 2.0 * k, 2.0, 0.2 * (k + 1), writing=0.1 * (k + 1)) for k in range(count)]
    found[2] |= {"chunks_relaxed": 3}
    found[3] |= {"chunks_skipped": 1}
    found[-1] |= {"period": None, "outcome": "open", "left": None}
    return found


@pytest.fixture
def statistics(config, out):
    """Returns statistics of three iterations that were really written."""
    file = config()
    file.write_text(file.read_text() + "measurements: {report: true}\n")
    with tailrace.open(file) as client:
        for step in (0, 1, 2):
            client.write("temperature", step, np.ones((4, 6)))
            client.write("field", step, np.ones(65536))
            client.end_iteration(step)
    return out / "sim_c0.stats.json"


def test_what_a_run_says_of_its_iterations(statistics):
    found = iterations.read(json.loads(statistics.read_text())["iterations"])
    assert [each.number for each in found] == [0, 1, 2]
    for each, after in zip(found, found[1:]):
        assert each.period == pytest.approx(after.begun - each.begun, abs=1e-6)
        assert 0 <= each.writing <= each.busy <= each.period + 1e-9
    for each in found:
        assert each.outcome == "published" and each.bytes_taken == each.bytes_stored == 192 + 8 * 65536
        assert each.begun <= each.ended and each.begun <= each.left and each.waited == 0
    assert found[-1].period is None


def test_a_run_whose_iterations_are_compressed(config, out):
    file = config()
    text = file.read_text().replace("field: {layout: large}",
                                    "field: {layout: large, compress: {filter: deflate, chunk: 64 KiB}}")
    file.write_text(text + "measurements: {report: true}\n")
    with tailrace.open(file) as client:
        for step in (0, 1):
            client.write("field", step, np.zeros(65536))
            client.end_iteration(step)
    document = json.loads((out / "sim_c0.stats.json").read_text())
    found = iterations.read(document["iterations"])
    (variable,) = [each for each in document["variables"] if each["name"] == "field"]
    assert [each.chunks_filtered for each in found] == [8, 8]
    for name in ("chunks_filtered", "chunks_relaxed", "chunks_skipped", "bytes_stored"):
        assert sum(getattr(each, name) for each in found) == variable[name], name
    assert sum(each.filtering for each in found) > 0
    assert sum(each.bytes_stored for each in found) < sum(each.bytes_taken for each in found)


def test_inspect_shows_the_latest(statistics, capfd):
    assert cli.main(["inspect", str(statistics)]) == 0
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    assert [line[:2] for line in lines if len(line) > 5 and line[1:2] == ["published"]] == [
        [str(step), "published"] for step in range(3)]
    (said,) = [" ".join(line) for line in lines if line[:2] == ["the", "writer"]]
    assert said.startswith("the writer was busy ") and "% the worst (iteration " in said


def test_inspect_shows_no_more_than_the_latest_eight(statistics, capfd):
    document = json.loads(statistics.read_text())
    document["iterations"] = [one(k, float(k), 1.0, 0.1) for k in range(50)]
    document["description"] = "place core, server 0"
    statistics.write_text(json.dumps(document))
    assert cli.main(["inspect", str(statistics)]) == 0
    text = capfd.readouterr().out
    assert "the latest 8 of 50 iterations:" in text and "the core was busy 10 % of an iteration" in text
    assert sum(line.split()[1:2] == ["published"] for line in text.splitlines()) == 8


def test_the_summary_weighs_iterations_by_their_time():
    found = iterations.read([one(0, 0.0, 1.0, 0.5), one(7, 1.0, 9.0, 0.5), one(8, 10.0, None, 3.0)])
    assert iterations.summary(found, "the core") == ("the core was busy 10 % of an iteration, 50 % the worst "
                                                     "(iteration 0)")
    assert iterations.summary(found[2:], "the core") == ""


@pytest.mark.parametrize("document, words", [
    (None, "iterations: found nothing, expected a list"), ({}, "expected a list"),
    ([3], "iterations[0]: found 3, expected an object"),
    ([one(0, outcome="lost")], "iterations[0].outcome: found 'lost', expected one of open, published"),
    ([one(0), one(1, busy=-1)], "iterations[1].busy: found -1, expected a number"),
    ([one(0) | {"begun": None}], "iterations[0].begun: found nothing"),
    ([one(0, period="long")], "iterations[0].period: found 'long'"),
    ([one(0, chunks_relaxed=True)], "iterations[0].chunks_relaxed: found True")])
def test_what_is_no_list_of_iterations(statistics, capfd, document, words):
    with pytest.raises(iterations.Malformed) as caught:
        iterations.read(document)
    assert words in str(caught.value)
    changed = json.loads(statistics.read_text()) | {"iterations": document}
    statistics.write_text(json.dumps(changed))
    for command in ("inspect", "plot"):
        assert cli.main([command, str(statistics)]) == 1
        assert words in capfd.readouterr().err


def test_statistics_of_an_earlier_version(statistics, capfd):
    document = json.loads(statistics.read_text())
    del document["iterations"]
    statistics.write_text(json.dumps(document))
    assert cli.main(["inspect", str(statistics)]) == 0
    assert "was busy" not in capfd.readouterr().out
    assert cli.main(["plot", str(statistics)]) == 1
    assert "iterations: found nothing, expected a list" in capfd.readouterr().err


def test_the_picture(statistics, tmp_path, capfd):
    document = json.loads(statistics.read_text()) | {"iterations": some()}
    statistics.write_text(json.dumps(document))
    for _ in range(2):
        assert cli.main(["plot", str(statistics), "--out", str(tmp_path / "pictures")]) == 0
        paths = capfd.readouterr().out.split()
        assert [path.rsplit("/", 1)[1] for path in paths] == ["sim_c0_busy.png", "sim_c0_busy.svg"]
        pictures = [(tmp_path / "pictures" / name).read_bytes() for name in ("sim_c0_busy.png", "sim_c0_busy.svg")]
    assert pictures[0].startswith(b"\x89PNG") and b"<svg" in pictures[1]
    assert cli.main(["plot", str(statistics), "--kind", "tiles"]) == 1
    assert "no data for tiles: found statistics (it gives busy, sizes)" in capfd.readouterr().err


def test_nothing_to_draw_of_one_iteration(statistics, capfd):
    document = json.loads(statistics.read_text()) | {"iterations": [one(0, period=None)]}
    statistics.write_text(json.dumps(document))
    assert cli.main(["plot", str(statistics)]) == 1
    assert "iterations: found 1, of which none was followed by another" in capfd.readouterr().err


def test_the_report_has_picture_and_figures(statistics, tmp_path):
    document = json.loads(statistics.read_text()) | {"iterations": some()}
    statistics.write_text(json.dumps(document))
    page = tmp_path / "report.html"
    assert cli.main(["report", str(statistics), "--out", str(page)]) == 0
    text = page.read_text()
    assert "the writer was busy" in text and "<svg" not in text and "data:image/svg+xml" in text
    assert text.count('<tr><th scope="row">') >= 6 and "published after" in text
