"""The package as users get it: its stubs are right, the example runs, the library is beside the extension."""

import importlib.metadata
import pathlib
import shutil
import subprocess
import sys

import tailrace
from conftest import REPOSITORY


def test_version():
    assert tailrace.__version__ == importlib.metadata.version("tailrace") == "0.1.0"


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
