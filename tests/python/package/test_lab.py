"""The laboratory is a package of its own: tailrace finds it by entry points, and says how to install it where it is
missing."""

import importlib.metadata
import tomllib

import pytest
from conftest import REPOSITORY
from tailrace import lab
from tailrace.pictures import source

DATA = REPOSITORY / "tests/python/figures/pictures"
BY = "`pip install --find-links FOLDER 'tailrace[lab]'`, with the folder of the wheels"
INSTALL = f"run {BY}\n"


def forget():
    lab.parts.cache_clear()
    source.kinds.cache_clear()


@pytest.fixture
def without_lab(monkeypatch):
    """There are no entry points of other packages."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: ())
    monkeypatch.setattr("sys.prefix", "/nowhere/.venv")
    forget()
    yield
    forget()


@pytest.mark.parametrize("words", [["bench"], ["bench", "pattern", "--quick"], ["bench", "--help"],
                                   ["plot", "a.json"]])
def test_commands_say_what_is_missing(without_lab, run, words):
    assert run(*words) == (1, "", f"tailrace: tailrace {words[0]} needs the laboratory, the package tailrace_lab, "
                                  f"which is not installed: {INSTALL}")


def test_in_the_repository_make_installs_it(without_lab, monkeypatch, run):
    monkeypatch.setattr("sys.prefix", str(REPOSITORY / ".venv"))
    _, _, message = run("bench")
    assert message.endswith("not installed: run `make build` or `pip install ./lab`\n")


def test_help_says_what_is_missing(without_lab, run):
    code, text, _ = run("--help")
    assert code == 0 and " ".join(text.split()).count(f"(not installed: needs {BY})") == 2


def test_measuring_says_what_is_missing(without_lab, run, tmp_path):
    code, text, message = run("predict", "--compute", "1s", "--bytes", "1MiB", "--measure", tmp_path)
    assert (code, text) == (1, "") and "--measure needs the laboratory" in message and message.endswith(INSTALL)


def test_a_report_of_a_benchmark_says_what_is_missing(without_lab, run, tmp_path):
    code, text, message = run("report", DATA / "peers.json", "--out", tmp_path / "report.html")
    assert (code, text) == (1, "") and "expected a trace or statistics of tailrace" in message
    assert "pip install --find-links FOLDER 'tailrace[lab]'" in message


def test_a_report_of_an_own_run_needs_none(without_lab, run, tmp_path):
    code, _, message = run("report", DATA / "trace.json", "--out", tmp_path / "report.html")
    assert (code, message) == (0, "")
    text = (tmp_path / "report.html").read_text()
    assert text.count("<figure>") == 1 and "PST, potential shield time" in text and "output overlap" not in text


def test_both_packages_are_of_one_version_and_one_build():
    ours, its = (tomllib.loads((REPOSITORY / path / "pyproject.toml").read_text()) for path in ("", "lab"))
    assert f"tailrace-lab=={its['project']['version']}" in ours["project"]["optional-dependencies"]["lab"]
    assert f"tailrace=={ours['project']['version']}" in its["project"]["dependencies"]
    ours, its = (each["tool"]["scikit-build"]["cmake"]["define"] for each in (ours, its))
    assert {**its, "TAILRACE_HEADERS": its["TAILRACE_HEADERS"].removeprefix("../")} == ours
