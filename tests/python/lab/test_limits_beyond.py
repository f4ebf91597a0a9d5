"""lab/limits.md has all limits of the sources, with their values, and the runs and tests that go beyond them."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "lab/limits.md"
LIMIT = re.compile(r"constexpr\s+(?:std::)?(?:u?int\w*|size_t|auto)\s+((?:k(?:Most|Max)\w*|k\w*(?:Kept|Remembered|"
                   r"AtOnce|InARow|Ahead|Slots|Entries)|most_\w+))\s*=\s*([^;]+);")
BEYOND, TESTED, WITHOUT = "Benchmarks that go beyond", "Tests that go beyond", "Without a run"


def rows(title):
    """Returns the cells of a section's rows."""
    section = PAGE.read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()
            if line.startswith("| ") and not line.startswith("| in")]


def listed():
    """Returns the limits of the first two tables: file, name and value."""
    return [(cells[0], *one.split(" ", 1))
            for title in (BEYOND, TESTED) for cells in rows(title) for one in cells[1].split(", ")]


def sources():
    return [file for top in ("src", "bindings") for file in sorted((ROOT / top).rglob("*"))
            if file.suffix in (".hpp", ".cpp", ".h")]


def test_each_limit_of_the_sources_is_in_the_list():
    have = {limit[:2] for limit in listed()}
    without = [one for cells in rows(WITHOUT) for one in cells[0].split(", ")]
    lost = []
    for file in sources():
        path = str(file.relative_to(ROOT))
        for name, _ in LIMIT.findall(file.read_text()):
            if (path, name) not in have and not any(path == one or path.startswith(f"{one}/") for one in without):
                lost.append(f"{path}: {name}")
    assert lost == [], f"{PAGE.name} should say which run goes beyond these, or why none does"


@pytest.mark.parametrize(("path", "name", "value"), listed())
def test_a_limit_has_the_value_of_the_list(path, name, value):
    text = (ROOT / path).read_text()
    assert re.search(rf"\b{name} = {re.escape(value)};", text), f"{path}: no {name} = {value}"


def test_what_has_no_run_is_there():
    names = {str(file.relative_to(ROOT)) for file in sources() if LIMIT.search(file.read_text())}
    for cells in rows(WITHOUT):
        for one in cells[0].split(", "):
            assert any(name == one or name.startswith(f"{one}/") for name in names), f"{one} has no limit"


def test_the_runs_are_there():
    script = (ROOT / "lab/run.sh").read_text()
    for cells in rows(BEYOND):
        for name in re.findall(r"`(\w+)`", cells[3]):
            assert re.search(rf"^ *(bench|experiment|pattern) {name}\b", script, re.MULTILINE), name
    for cells in rows(TESTED):
        assert (ROOT / cells[2]).is_file(), cells[2]


def test_a_limit_is_found_wherever_it_is_declared():
    text = "inline constexpr uint32_t kMostThings = 7;\n static constexpr std::size_t kPartsKept = size_t{1} << 4;"
    assert LIMIT.findall(text) == [("kMostThings", "7"), ("kPartsKept", "size_t{1} << 4")]
