"""The version is the same wherever it is written: CMake's project() is the one to change first."""

import re

import pytest
import tailrace
from conftest import REPOSITORY

PLACES = {
    "include/tailrace/tailrace.h": r'TAILRACE_VERSION_STRING "([\d.]+)"',
    "pyproject.toml": r'^version = "([\d.]+)"',
    "lab/pyproject.toml": r'^version = "([\d.]+)"',
    "CITATION.cff": r"^version: ([\d.]+)",
}


def project_version():
    return re.search(r"project\(tailrace VERSION ([\d.]+)", (REPOSITORY / "CMakeLists.txt").read_text())[1]


@pytest.mark.parametrize("path", PLACES)
def test_the_version_is_that_of_cmake(path):
    found = re.search(PLACES[path], (REPOSITORY / path).read_text(), re.MULTILINE)
    assert found and found[1] == project_version()


def test_the_header_has_its_parts():
    header = (REPOSITORY / "include/tailrace/tailrace.h").read_text()
    parts = [re.search(rf"TAILRACE_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    assert ".".join(parts) == project_version() == tailrace.__version__
