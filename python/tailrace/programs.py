"""The programs, libraries and CMake's files that the package contains: where they are, and how they are loaded."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Mapping


def find(name: str) -> str | None:
    """Returns the path of a program: beside the package's library, else on PATH; None if it is in neither place."""
    packaged = FOLDER / name
    return str(packaged) if packaged.is_file() else shutil.which(name)


def preload(library: pathlib.Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables by which the library is loaded before those of the program. Raises ValueError."""
    before = environment.get("LD_PRELOAD", "")
    folder = str(library.parent)
    if ":" in folder or (" " in folder and ";" in folder):
        raise ValueError(f"found a colon or semicolon in {folder}, which the dynamic linker would take for its end")
    if " " not in folder:
        return {"LD_PRELOAD": f"{library} {before}".strip()}
    # LD_PRELOAD ends at a blank, so the linker looks for the name in its folders, which may have blanks.
    folders = [*filter(None, [environment.get("LD_LIBRARY_PATH")]), folder]
    return {"LD_PRELOAD": f"{library.name} {before}".strip(), "LD_LIBRARY_PATH": ":".join(folders)}


FOLDER = pathlib.Path(__file__).parent  #: of the package
CMAKE = FOLDER / "cmake"  #: the folder of tailraceConfig.cmake
