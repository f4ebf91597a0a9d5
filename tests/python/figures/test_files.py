"""The effect of merging on requests, file by file: the statistics, and how they are shown and drawn."""

import json

import numpy as np
import pytest
import tailrace
from tailrace import cli, files


@pytest.fixture
def statistics(config, out):
    """Returns the statistics of a run that wrote rows of a raw file, read some back, and had an iteration."""
    file = config()
    file.write_text(file.read_text() + "measurements: {report: true}\nmerge: {by: count, count: 32}\n")
    with tailrace.open(file) as client:
        with client.open_file("rows.raw") as rows:
            for row in range(64):
                rows.write(np.full(50, row, np.uint16), 100 * (row * 7 % 64))
            rows.sync()
            assert (rows.read(np.zeros(50, np.uint16), 0) == 0).all()
        client.write("temperature", 0, np.ones((4, 6)))
        client.end_iteration(0)
        client.flush()
        said = client.file_stats("rows.raw")
        assert said.writes == 64 and said.handover.count == 64 and said.waiting.count == 3
        assert said.before.histogram == ((64, 65),) and said.before.bytes == 6500
        assert said.after.count < 40 and said.requests_merged > 30
        assert client.file_stats().before.bytes > 0
        with pytest.raises(tailrace.Error, match="nothing is known"):
            client.file_stats("columns.raw")
    assert np.fromfile(out / "rows.raw", np.uint16).size == 64 * 50
    return out / "sim_c0.stats.json"


def test_what_a_run_says_of_its_files(statistics):
    rows, iterations = files.read(json.loads(statistics.read_text())["files"])
    assert (rows.kind, rows.name, rows.writes, rows.reads) == ("raw", "rows.raw", 64, 1)
    assert rows.before.histogram == {64: 65} and rows.after.bytes == 6500
    assert iterations.kind == "iterations" and iterations.writes == 0


def test_inspect_shows_them(statistics, capfd):
    assert cli.main(["inspect", str(statistics)]) == 0
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    (rows,) = [line for line in lines if line[:1] == ["rows.raw"]]
    assert rows[1:5] == ["64", "6.25", "KiB", "1"]
    assert ["from", "requests", "accesses"] in lines
    assert [line for line in lines if line[:3] == ["64", "B", "65"]]
    assert [line for line in lines if line[:3] == ["(files", "of", "iterations)"]]


def test_what_is_read_for_nothing(config, out, tmp_path, capfd):
    file = config()
    file.write_text(file.read_text() + "measurements: {report: true}\n")
    with tailrace.open(file) as client:
        with client.open_file("a.raw") as raw:
            raw.write(np.arange(250, dtype=np.uint32), 0)
            raw.sync()
            raw.read_list(np.zeros(100, np.uint32), [(0, 200), (250, 200)])
        client.flush()
        assert client.file_stats("a.raw").bytes_sieved == client.stats()["bytes_sieved"] == 50
    statistics = out / "sim_c0.stats.json"
    assert cli.main(["inspect", str(statistics)]) == 0
    assert "50 B read for nothing" in capfd.readouterr().out
    page = tmp_path / "report.html"
    assert cli.main(["report", str(statistics), "--out", str(page)]) == 0
    assert "50 B read for nothing" in page.read_text()


def test_the_picture_and_the_report(statistics, tmp_path, capfd):
    out = tmp_path / "pictures"
    assert cli.main(["plot", str(statistics), "--out", str(out)]) == 0
    assert [path.rsplit("/", 1)[1] for path in capfd.readouterr().out.split()] == ["sim_c0_sizes.png",
                                                                                     "sim_c0_sizes.svg"]
    page = tmp_path / "report.html"
    assert cli.main(["report", str(statistics), "--out", str(page)]) == 0
    text = page.read_text()
    assert "rows.raw: 65 requests of 100 B became" in text and "data:image/svg+xml" in text
    assert '<th scope="row">rows.raw</th>' in text and '<th scope="row">(files of iterations)</th>' in text


def test_of_iterations_alone_there_is_a_picture_if_one_asks(statistics, tmp_path, capfd):
    document = json.loads(statistics.read_text())
    document["files"] = document["files"][1:]
    statistics.write_text(json.dumps(document))
    assert cli.main(["plot", str(statistics), "--out", str(tmp_path)]) == 1
    assert "none was followed by another" in capfd.readouterr().err


ONE = {"kind": "raw", "path": "a", "writes": 1, "bytes_written": 2, "reads": 0, "bytes_read": 0, "requests_merged": 0,
       "bytes_overwritten": 0, "bytes_from_memory": 0, "bytes_sieved": 0,
       "before": {"count": 1, "bytes": 2, "most": 2, "histogram": [[2, 1]]},
       "after": {"count": 1, "bytes": 2, "most": 2, "histogram": [[2, 1]]}}


@pytest.mark.parametrize("document, words", [
    (3, "files: found 3, expected a list"),
    ([3], "files[0]: found 3, expected an object"),
    ([ONE | {"kind": "odd"}], "files[0].kind: found 'odd', expected one of raw, others, iterations"),
    ([ONE | {"path": None}], "files[0].path: found nothing, expected a text"),
    ([ONE, ONE | {"reads": -1}], "files[1].reads: found -1, expected a number"),
    ([ONE | {"after": 7}], "files[0].after: found 7, expected an object"),
    ([ONE | {"before": ONE["before"] | {"histogram": [1]}}], "files[0].before.histogram: found [1], expected a list"),
    ([ONE | {"before": ONE["before"] | {"histogram": [["a", 1]]}}], "files[0].before.histogram: found 'a'"),
])
def test_what_is_no_list_of_files(statistics, capfd, document, words):
    changed = json.loads(statistics.read_text()) | {"files": document}
    statistics.write_text(json.dumps(changed))
    for command in ("inspect", "report"):
        assert cli.main([command, str(statistics)]) == 1
        assert words in capfd.readouterr().err
