"""Pictures and reports of quick runs say that they measure nothing, and titles have C/W as measured."""

import json
import pathlib

import pytest
from tailrace import cli
from tailrace.cli import demo_numbers, demo_page
from tailrace.pictures import gallery, source
from tailrace_lab.pictures import curve, numbers, peers

DATA = pathlib.Path(__file__).parent / "pictures"
MARK = "quick run: not a measurement"


@pytest.fixture
def sweep():
    return json.loads((DATA / "sweep.json").read_text())


def texts(picture):
    return [text.get_text() for text in picture.figure.texts]


def test_pictures_of_quick_runs_are_marked(sweep, tmp_path):
    file = tmp_path / "result.json"
    for quick in (True, False):
        file.write_text(json.dumps({**sweep, "quick": quick}))
        pictures = gallery.draw([source.read(file)])
        assert pictures and all((MARK in texts(one)) == quick for one in pictures)


def test_the_timeline_of_a_quick_run_is_marked(tmp_path):
    document = json.loads((DATA / "trace.json").read_text())
    file = tmp_path / "trace.json"
    for quick in (True, False):
        document["otherData"]["quick"] = quick
        file.write_text(json.dumps(document))
        [picture] = gallery.draw([source.read(file)])
        assert (MARK in texts(picture)) == quick


def test_the_report_of_a_quick_run_says_so(sweep, tmp_path):
    file = tmp_path / "result.json"
    for quick in (True, False):
        file.write_text(json.dumps({**sweep, "quick": quick}))
        assert cli.main(["report", str(file), "--out", str(tmp_path / "page.html")]) == 0
        assert ("Its figures are no measurement" in (tmp_path / "page.html").read_text()) == quick


def test_titles_have_the_measured_ratio(sweep):
    for point in sweep["points"]:
        point["compute_seconds"] *= 2  # not what was asked for
    first, last = numbers.points(sweep)[0], numbers.points(sweep)[-1]
    ends = f"{numbers.ratio(first):.3g} to {numbers.ratio(last):.3g}"
    assert curve.draw(sweep).get_suptitle().endswith(f"C/W, measured from {ends}")
    assert numbers.label(first) == f"{numbers.ratio(first):.3g} (asked: {numbers.asked(first):g})"
    titles = [axes.get_title() for axes in peers.draw(sweep).axes]
    assert f"C/W = {numbers.label(first)}" in titles


def test_the_demonstrations_page(tmp_path):
    def report(kind, computing, waiting):
        return {"output": kind, "description": f"writes as {kind}", "seconds_total": computing + waiting,
                "seconds_computing": computing, "seconds_waiting": waiting, "outputs": 4, "bytes": 2.0**25,
                "peak_rss_bytes": 1e8, "counters": {}, "timeline": []}

    (tmp_path / "wave.png").write_bytes(b"\x89PNG")
    one = {"none": report("none", 4.0, 0.0), "hdf5": report("hdf5", 4.2, 2.0),
           "tailrace": report("tailrace", 4.1, 0.5)}
    page = demo_page.write(tmp_path, demo_numbers.evaluate([one]), "a <thread>", ["a.h5", "b.h5"], ["equal"], True)
    text = page.read_text()
    assert page == tmp_path / "report.html" and "Its figures are no measurement" in text
    for words in ("With tailrace the program took 4.60 s", "a &lt;thread&gt;", "a.h5 … b.h5 (2)", "synchronous",
                  "data:image/png;base64,iVBORw==", "C/W = 2.00"):
        assert words in text, words
