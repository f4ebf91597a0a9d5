"""The package as users get it: its stubs are right, the example runs, the library is beside the extension."""

import importlib.metadata
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import tailrace
from conftest import REPOSITORY


def test_version():
    assert tailrace.__version__ == importlib.metadata.version("tailrace") == "0.1.0"


@pytest.mark.parametrize("name", ["tailrace", "tailrace-lab"])
def test_an_index_shows_who_made_it_and_where_it_is(name):
    shown = importlib.metadata.metadata(name)
    citation = (REPOSITORY / "CITATION.cff").read_text()
    assert f"- name: {shown['Author']}\n" in citation
    keywords = [word.strip() for word in shown["Keywords"].split(",")]
    assert f"keywords: [{', '.join(keywords)}]" in citation
    addresses = dict(line.split(", ") for line in shown.get_all("Project-URL"))
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= addresses.keys()
    assert all(address.startswith("https://") for address in addresses.values())
    classifiers = shown.get_all("Classifier")
    assert classifiers == sorted(set(classifiers)) and "Operating System :: POSIX :: Linux" in classifiers
    assert shown["License-Expression"] == "BSD-3-Clause" and not any("License" in one for one in classifiers)
    assert shown["Description-Content-Type"] == "text/markdown" and shown["Summary"]


def programs():
    """Returns the programs that the wheels install: executable files that are no libraries."""
    files = [file for name in ("tailrace", "tailrace-lab") for file in importlib.metadata.files(name)]
    return [file.locate() for file in files if ".so" not in file.name and os.access(file.locate(), os.X_OK)]


@pytest.mark.parametrize("program", programs(), ids=lambda path: path.name)
def test_each_program_has_a_version_and_a_help(program):
    for option, words in (("--version", f"{program.name} {tailrace.__version__}\n"), ("--help", program.name)):
        done = subprocess.run([program, option], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.stdout.startswith(words) if option == "--version" else words in done.stdout.replace(" ", "-")
        assert done.stderr == ""


def test_the_stubs_are_those_of_the_extension(tmp_path):
    fresh = tmp_path / "fresh.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "tailrace._tailrace", "-o", fresh],
                   check=True)
    checked_in = REPOSITORY / "python/tailrace/_tailrace.pyi"
    assert fresh.read_text() == checked_in.read_text(), (
        f"to renew: {sys.executable} -m nanobind.stubgen -m tailrace._tailrace -o {checked_in}")


def test_the_package_is_typed_and_whole():
    package = pathlib.Path(tailrace.__file__).parent
    assert (package / "py.typed").exists() and (package / "_tailrace.pyi").exists()
    assert list(package.glob("libtailrace.so*"))


def test_completion_shows_the_public_names_alone():
    assert dir(tailrace) == sorted(tailrace.__all__)


def test_every_public_name_has_a_docstring():
    for name in tailrace.__all__:
        assert getattr(tailrace, name).__doc__, name
    for name in vars(tailrace.Client):
        if not name.startswith("_"):
            assert getattr(tailrace.Client, name).__doc__, name


def test_the_example(tmp_path):
    shutil.copy(REPOSITORY / "examples/sim.yaml", tmp_path)
    (tmp_path / "out").mkdir()
    subprocess.run([sys.executable, REPOSITORY / "examples/example.py"], cwd=tmp_path, check=True)
    subprocess.run([sys.executable, REPOSITORY / "examples/check.py", tmp_path], check=True)


def test_cmake_finds_the_package():
    said = subprocess.run([sys.executable, "-m", "tailrace.cli", "--cmake-dir"], check=True, capture_output=True,
                          text=True).stdout
    folder = pathlib.Path(said.strip())
    assert (folder / "tailraceConfig.cmake").is_file() and (folder.parent / "include/tailrace/tailrace.h").is_file()


WITHOUT_MATPLOTLIB = """
import sys
sys.modules["matplotlib"] = None
import tailrace.cli
sys.exit(tailrace.cli.main())
"""


@pytest.mark.parametrize("command", [("demo",), ("plot", "none.json"), ("report", "none.json"),
                                     ("bench", "mpiio", "--plot", "a.png")])
def test_pictures_without_matplotlib_say_what_to_install(command, tmp_path):
    done = subprocess.run([sys.executable, "-c", WITHOUT_MATPLOTLIB, *command], cwd=tmp_path, capture_output=True,
                          text=True)
    assert done.returncode == 1
    assert done.stderr == ("tailrace: pictures need matplotlib, which is not installed: run `pip install "
                           "'tailrace[plots]'`\n")
    assert not list(tmp_path.iterdir())
