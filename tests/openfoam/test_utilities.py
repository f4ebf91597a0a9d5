"""Every utility of OpenFOAM that writes leaves with tailrace what it leaves without: names, contents, permissions."""

import re
import shutil
import subprocess

import pytest
from openfoam import cases, utilities
from openfoam.carried import variables as carried_by

pytestmark = pytest.mark.skipif(shutil.which("blockMesh") is None, reason="no OpenFOAM here")


def tree(folder, free):
    """Returns all that is in a folder: permissions, and contents."""
    def look(path):
        if path.is_symlink() or not path.is_file():
            return str(path.readlink()) if path.is_symlink() else "directory"
        return re.sub(free.encode(), b"", path.read_bytes()) if free else path.read_bytes()

    return {str(path.relative_to(folder)): (path.lstat().st_mode, look(path)) for path in folder.rglob("*")}


def differing(plain, carried, free):
    expected, found = tree(plain, free), tree(carried, free)
    return [name for name in sorted(expected.keys() | found.keys()) if expected.get(name) != found.get(name)]


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if recipe.quick else pytest.mark.slow)
                                  for name, recipe in utilities.RECIPES.items()])
def test_what_a_utility_writes(tmp_path, name):
    recipe = utilities.RECIPES[name]
    plain, carried = tmp_path / "plain/case", tmp_path / "carried/case"
    utilities.make(recipe, plain)
    shutil.copytree(plain, carried)
    for line in recipe.programs:
        cases.must(utilities.words_of(line), plain)
        cases.must(utilities.words_of(line), carried, carried_by())
        assert differing(plain, carried, recipe.free) == [], line


def test_no_utility_is_forgotten():
    """A program whose name ends with Foam, but not with ToFoam, is a solver."""
    files = subprocess.run(["dpkg", "-L", "openfoam"], capture_output=True, text=True, check=True).stdout.split()
    programs = {path.rpartition("/")[2] for path in files if path.startswith("/usr/bin/")}
    there = {name for name in programs if name.endswith("ToFoam") or not name.endswith("Foam")}
    run = {utilities.program_of(line) for recipe in utilities.RECIPES.values()
           for line in (*recipe.before, *recipe.programs)}
    assert len(there) > 100
    assert there - run - set(utilities.NOT_RUN) == set()
    assert set(utilities.NOT_RUN) & run == set()
