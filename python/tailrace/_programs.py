"""Finds the programs, and CMake's files, that the package contains."""

from __future__ import annotations

import pathlib
import shutil


def find(name: str) -> str | None:
    """Returns the path of a program: beside the package's library, else on PATH; None if it is in neither place."""
    packaged = FOLDER / name
    return str(packaged) if packaged.is_file() else shutil.which(name)


FOLDER = pathlib.Path(__file__).parent  #: of the package
CMAKE = FOLDER / "cmake"  #: the folder of tailraceConfig.cmake
