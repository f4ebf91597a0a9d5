"""`tailrace report`: one self-contained page that says what the figures say, and is a page in Chromium."""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess

import pytest
from tailrace import cli
from tailrace_lab.pictures import words

DATA = pathlib.Path(__file__).parent / "pictures"
ALL = [str(DATA / name) for name in ("sweep.json", "peers.json", "trace.json", "write_times.csv")]


@pytest.fixture
def sweep():
    return json.loads((DATA / "sweep.json").read_text())


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "new" / "report.html"
    assert cli.main(["report", *ALL, "--out", str(file)]) == 0
    return file


class Reader(html.parser.HTMLParser):
    """Collects tags with their attributes, text, and what is still open at the end."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.open = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_is_whole_and_needs_nothing(page):
    text = page.read_text()
    reader = Reader(text)
    assert reader.open == []
    assert not re.search(r"(src|href)=\"(?!data:)", text) and "url(" not in text and "@import" not in text
    assert "script" not in [tag for tag, _ in reader.tags] and "default-src 'none'" in text
    images = [attributes for tag, attributes in reader.tags if tag == "img"]
    assert len(images) == 5
    assert all(len(image["alt"]) > 40 and image["src"].startswith("data:image/") for image in images)
    for need in ("prefers-color-scheme:dark", "@media print", 'lang="en"', "<caption>", 'scope="col"'):
        assert need in text


def test_the_page_says_what_was_measured(page):
    said = " ".join(Reader(page.read_text()).words).replace("\u00a0", " ")
    for word in ("In short", "make.py: made from the models, not measured", "Made-up CPU",
                 "ext4, page cache bypassed",
                 "largest deviation of the 27 predictions", "46 % less", "1.01 times the limit", "nearest peer",
                 "MPICH iwrite_all could not run", "mpiexec.mpich: not installed here", "Copying an iteration's "
                                                                                        "bytes",
                 "lines of user code", "W by saturation", "GB/s", "wasted, %"):
        assert word in said, word


def test_words_of_a_file_are_not_markup(tmp_path, sweep):
    sweep["command"] = "<script>alert(1)</script> & <b>"
    sweep["points"][0]["series"]["<i>x</i>"] = {"writer": "x", "error": "<u>"}
    file = tmp_path / "<s>.json"
    file.write_text(json.dumps(sweep))
    assert cli.main(["report", str(file), "--out", str(tmp_path / "r.html")]) == 0
    text = (tmp_path / "r.html").read_text()
    for tag in ("<script", "<i>", "<u>", "<b>", "<s>"):
        assert tag not in text
    assert Reader(text).open == []


def test_a_directory_takes_the_page(tmp_path, capsys):
    assert cli.main(["report", ALL[1], "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'report.html'}\n"


def test_one_bad_file_spoils_it(tmp_path, capsys):
    (tmp_path / "bad.json").write_text("{}")
    out = tmp_path / "r.html"
    assert cli.main(["report", ALL[0], str(tmp_path / "bad.json"), "--out", str(out)]) == 1
    message = capsys.readouterr().err
    assert "bad.json" in message and "expected" in message and not out.exists()


def test_what_the_copy_costs(sweep):
    found = {round(one.at, 1): one for one in words.copies(sweep)}
    # 16 iterations of W = 127 ms; a copy takes 26 ms: below C = W all but one are hidden, above it each counts.
    assert found[0.5].saved == pytest.approx(0.026)
    assert found[2].saved == pytest.approx(16 * 0.026)
    assert found[1].measured == pytest.approx(0.42, abs=0.05)
    sweep["points"][0]["limit_copy_seconds"] = sweep["points"][0]["limit_seconds"] + 1
    assert words.copies(sweep)[0].saved == pytest.approx(1)


@pytest.mark.parametrize("seconds, said", [
    (0.1, "storage is nearly as fast as memory here, and the copy is what remains"), (0.03, "alloc/commit and borrow "
                                                                                            "save it"),
    (0.001, "it matters little here")])
def test_when_the_copy_matters(sweep, seconds, said):
    sweep["measured"]["copy"]["seconds"] = seconds
    first = words.copying(sweep)[0]
    assert said in first and "up to" in first and first in words.summary(sweep)


def test_without_a_measured_copy_nothing_is_said_of_it(sweep):
    del sweep["measured"]
    assert words.copying(sweep) == [] and words.copies(sweep) == []


def test_the_summary_is_honest(sweep):
    point = next(one for one in sweep["points"] if one["c_over_w_asked"] == 1)
    for name in ("tailrace alloc", "tailrace write"):
        point["series"][name]["summary"]["total"].update(median=9.0, least=5.0, most=99.0)
        point["series"][name]["summary"]["overlap"]["median"] = -0.1
        point["series"][name]["deviation"] = 4.0
    said = " ".join(words.summary(sweep))
    assert " % more. " in said and "waits no less" in said and "more than the 10 %" in said
    assert "spread by more than 10 %" in said


def test_below_the_limit_is_doubted(sweep):
    for point in sweep["points"]:
        point["limit_seconds"] *= 1.2
    assert any(line.startswith("Below the limit: sync, tailrace alloc") for line in words.summary(sweep))


def test_a_faster_peer_is_named():
    peers = json.loads((DATA / "peers.json").read_text())
    summary = peers["points"][1]["series"]["h5py"]["summary"]
    summary["total"].update(median=1.5)
    summary["waiting"].update(median=0.0)
    said = " ".join(words.summary(peers))
    assert "h5py is faster, by" in said and "waits less for output than tailrace: h5py at C/W 1" in said


def screenshot(chromium, page, picture, *more):
    """Runs a browser on a page; returns what it logged."""
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
         f"--user-data-dir={picture.parent / 'profile'}", "--enable-logging=stderr", "--window-size=1200,3000",
         f"--screenshot={picture}", *more, page.as_uri()], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and picture.exists(), done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def chromium():
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        pytest.skip("chromium is not installed")
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_chromium_shows_it(chromium, page, tmp_path, scheme):
    from matplotlib import image

    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    log = screenshot(chromium, page, tmp_path / "page.png", *dark)
    assert "CONSOLE" not in log, log
    pixels = image.imread(tmp_path / "page.png")[:, :, :3]
    assert pixels.shape[:2] == (3000, 1200)
    brightness = pixels.mean(axis=2)
    assert brightness.std() > 0.1  # not blank
    # Words at the top, a picture below, on paper in the colours of the scheme.
    assert (brightness[0, 0] > 0.9) == (scheme == "light")
    assert brightness[:200].std() > 0.03 and brightness[1500:].std() > 0.1


def test_the_browser_test_would_see_an_error(chromium, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text("<!doctype html><script>console.error('no luck')</script>")
    assert "CONSOLE" in screenshot(chromium, bad, tmp_path / "bad.png")
