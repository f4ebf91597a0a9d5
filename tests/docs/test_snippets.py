"""Every block of code in the tutorial, the how-tos and the examples is tried, in order, in a folder for each page.

A comment before a block says how:

    <!-- file: NAME -->        the block is the file NAME
    <!-- run -->               the lines that begin with "$ " are commands; the other lines must be their output
    <!-- run if MODULE -->     the same, but skipped where Python has no MODULE
    <!-- not run: REASON -->   the block cannot run here; the test shows it as skipped, with the reason

A line "…" stands for any lines, and "…" within a line for any text. $PREFIX is a folder with include/ and lib/, as an
installation has them. A file that a page includes is in the folder under its name, and a picture that the page shows
must be the one that the program has drawn.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / "build/release"
GALLERY = REPOSITORY / "docs/examples/index.md"
EXAMPLES = sorted({*GALLERY.parent.glob("*.md")} - {GALLERY})
PAGES = [REPOSITORY / "docs/tutorial.md", *sorted((REPOSITORY / "docs/howto").glob("*.md")), *EXAMPLES]
BLOCK = re.compile(r"^(?:<!-- (?P<how>.*?) -->\n\n?)?```(?P<language>[^\n]*)\n(?P<body>.*?)^```$",
                   re.MULTILINE | re.DOTALL)
INCLUDED = re.compile(r"^```{literalinclude} (\S+)$", re.MULTILINE)
PICTURE = re.compile(r"^!\[.*\]\((\.\./images/examples/\S+)\)$", re.MULTILINE)


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    how: str
    body: str


def blocks(page: pathlib.Path) -> list[Block]:
    return [Block(page, match["how"] or "", match["body"]) for match in BLOCK.finditer(page.read_text())
            if not match["language"].startswith("{")]


def name_of(page: pathlib.Path) -> str:
    return page.relative_to(REPOSITORY / "docs").as_posix()


NOT_RUN = [(f"{name_of(page)}: {block.how}", block) for page in PAGES for block in blocks(page)
           if block.how.startswith("not run: ")]


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> dict[str, str]:
    """The environment of the commands: this Python first, $PREFIX, and an MPI that starts anywhere."""
    prefix = tmp_path / "prefix"
    (prefix / "lib").mkdir(parents=True)
    (prefix / "include/tailrace/fortran").mkdir(parents=True)
    for header in (REPOSITORY / "include/tailrace").iterdir():
        (prefix / "include/tailrace" / header.name).symlink_to(header)
    for library in [*BUILD.glob("src/api/libtailrace.so*"), *BUILD.glob("bindings/fortran/*.a")]:
        (prefix / "lib" / library.name).symlink_to(library)
    for module in BUILD.glob("bindings/fortran/include/*.mod"):
        (prefix / "include/tailrace/fortran" / module.name).symlink_to(module)
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PREFIX": str(prefix), "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1", "COLUMNS": "120"}


def prints(shown: list[str], printed: str) -> bool:
    """Returns True if the lines that a page shows are what a command has printed."""
    lines = [line.rstrip() for line in "\n".join(shown).rstrip().splitlines()]
    patterns = ["(?:.*\n)*" if line.strip() == "…" else ".*".join(map(re.escape, line.split("…"))) + "\n"
                for line in lines]
    found = [f"{line.rstrip()}\n" for line in printed.rstrip().splitlines()]
    return bool(re.fullmatch("".join(patterns), "".join(found)))


def test_a_page_shows_all_that_a_command_prints() -> None:
    assert prints(["one", "", "two", ""], "one\n\ntwo   \n") and prints([], "") and prints(["…"], "")
    assert prints(["one", "…", "four: …"], "one\ntwo\nthree\nfour: 4 (5)\n") and not prints(["one"], "one\ntwo\n")
    assert not prints([], "one\n") and not prints(["one", "…"], "two\n") and not prints(["a.c"], "abc\n")


def run_commands(block: Block, folder: pathlib.Path, environment: dict[str, str]) -> None:
    """Runs the commands of a block; each must succeed, and print what the block shows."""
    sessions = re.split(r"^\$ ", block.body, flags=re.MULTILINE)
    assert not sessions[0].strip(), f"{name_of(block.page)}: a block to run begins with output: {sessions[0]}"
    for session in sessions[1:]:
        command, *shown = session.splitlines()
        while command.endswith("\\"):
            command = command[:-1] + shown.pop(0)
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True, timeout=600,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert done.returncode == 0, f"{name_of(block.page)}: $ {command}\n{done.stdout}"
        assert prints(shown, done.stdout), \
            f"{name_of(block.page)}: $ {command}\n{done.stdout}\nThe page shows:\n" + "\n".join(shown)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_do_what_the_page_says(page: pathlib.Path, tmp_path: pathlib.Path, environment: dict[str, str],
                                      runtime_directory: pathlib.Path) -> None:
    environment["TAILRACE_RUNTIME_DIR"] = str(runtime_directory)
    folder = tmp_path / "work"
    folder.mkdir()
    for included in INCLUDED.findall(page.read_text()):
        shutil.copy(page.parent / included, folder)
    missing = []
    for block in blocks(page):
        if block.how.startswith("file: "):
            (folder / block.how.removeprefix("file: ")).write_text(block.body)
        elif block.how.startswith("run if ") and importlib.util.find_spec(block.how.split()[-1]) is None:
            missing.append(block.how.split()[-1])
        elif block.how == "run" or block.how.startswith("run if "):
            if "mpicxx" in block.body and shutil.which("mpicxx") is None:
                pytest.skip("there is no MPI here; the blocks above it have run")
            run_commands(block, folder, environment)
        else:
            assert block.how.startswith("not run: "), f"{name_of(page)}: nothing says what to do with:\n{block.body}"
    for picture in PICTURE.findall(page.read_text()):
        if not missing:
            require_same_picture(page.parent / picture, folder / pathlib.Path(picture).name)
    if missing:
        pytest.skip(f"{', '.join(missing)}: not installed here; all other blocks of the page have run")


def require_same_picture(kept: pathlib.Path, made: pathlib.Path) -> None:
    """Requires that the pictures look alike; another release of matplotlib may place a text elsewhere."""
    from matplotlib.testing.compare import compare_images

    assert compare_images(str(kept), str(made), tol=12) is None, f"to renew it: cp {made} {kept}"


def test_the_gallery_has_a_card_for_each_example() -> None:
    cards = re.findall(r"^:link: (\S+)$", GALLERY.read_text(), re.MULTILINE)
    assert sorted(cards) == [page.stem for page in EXAMPLES]
    shown = {(page.parent / name).resolve() for page in EXAMPLES for name in INCLUDED.findall(page.read_text())}
    assert {*(REPOSITORY / "examples/gallery").glob("*.*")} <= shown


def test_the_output_on_a_card_is_that_of_its_page() -> None:
    for card in GALLERY.read_text().split(":::{grid-item-card}")[1:]:
        page = (GALLERY.parent / re.search(r":link: (\S+)", card)[1]).with_suffix(".md").read_text()
        for block in BLOCK.finditer(card.partition("\n:::\n")[0]):
            assert all(line in page for line in block["body"].splitlines()), block["body"]
        for picture in re.findall(r":img-top: (\S+)", card):
            assert f"]({picture})" in page


@pytest.mark.parametrize(("title", "block"), NOT_RUN, ids=[title for title, _ in NOT_RUN])
def test_blocks_that_cannot_run_here(title: str, block: Block) -> None:
    pytest.skip(f"{title}: {block.body.splitlines()[0]}")


def test_each_status_code_has_an_entry() -> None:
    header = (REPOSITORY / "include/tailrace/tailrace.h").read_text()
    statuses = header[header.index("typedef enum tailrace_status"):header.index("} tailrace_status;")]
    codes = set(re.findall(r"^  (TAILRACE_\w+) = [1-4]\d\d[,\s]", statuses, re.MULTILINE))
    page = (REPOSITORY / "docs/howto/troubleshooting.md").read_text()
    entries = set(re.findall(r"^### `(TAILRACE_\w+)`", page, re.MULTILINE))
    assert len(codes) > 20 and entries == codes


def test_the_readme_shows_the_example_in_python() -> None:
    readme = (REPOSITORY / "README.md").read_text()
    program = (REPOSITORY / "examples/example.py").read_text().split('"""\n\n', 1)[1]
    assert f"```python\n{program}```" in readme


def test_the_readme_has_no_numbers_of_tests() -> None:
    """They would be wrong after the next test."""
    readme = (REPOSITORY / "README.md").read_text()
    assert not re.search(r"\d (passed|skipped|xfailed)|out of \d", readme)
