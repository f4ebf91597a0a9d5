"""The recipes of packaging/ can be read, have tailrace's version, and name all that it depends on (names.csv)."""

import csv
import re
import shutil
import subprocess
import sys
import types

import pytest
from conftest import REPOSITORY

PACKAGING = REPOSITORY / "packaging"
VERSION = re.search(r"project\(tailrace VERSION ([\d.]+)", (REPOSITORY / "CMakeLists.txt").read_text())[1]


def names(of):
    with (PACKAGING / "names.csv").open(newline="") as file:
        return {row[of] for row in csv.DictReader(file)} - {""}


def spack():
    """Returns the recipe's class, and what it depends on, as Spack's directives get it."""
    said = {"version": [], "depends_on": [], "variant": [], "license": [], "maintainers": []}
    directives = types.ModuleType("spack.package")
    for name, calls in said.items():
        setattr(directives, name, lambda first, *_, calls=calls, **__: calls.append(first))
    build = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    build.CMakePackage = object
    stubs = {"spack": types.ModuleType("spack"), "spack.package": directives, build.__name__: build}
    for parent in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        stubs[parent] = types.ModuleType(parent)
    with pytest.MonkeyPatch.context() as patch:
        for name, module in stubs.items():
            patch.setitem(sys.modules, name, module)
        found = {}
        exec((PACKAGING / "spack/tailrace/package.py").read_text(), found)
    return found["Tailrace"], said


def test_all_packages_have_names_elsewhere():
    listed = (REPOSITORY / "tools/packages.txt").read_text()
    users = {line.split("#")[0].strip() for line in listed.splitlines() if "# tests" not in line}
    libraries = {name for name in users if re.fullmatch(r"(lib|zlib|nlohmann).*-dev", name)}
    assert libraries == names("debian")


def test_the_recipe_of_spack():
    recipe, said = spack()
    assert recipe.__doc__ and said["version"] == [VERSION]
    depended = {re.split(r"[ @+~]", spec)[0] for spec in said["depends_on"]}
    assert names("spack") <= depended
    options = re.findall(r'define\w*\("(TAILRACE_\w+)"', (PACKAGING / "spack/tailrace/package.py").read_text())
    configured = "".join((REPOSITORY / path).read_text() for path in ("CMakeLists.txt", "cmake/hdf5.cmake"))
    assert options and all(f"({option} " in configured for option in options)


def test_the_recipe_of_conda_forge():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((PACKAGING / "conda-forge/recipe.yaml").read_text())
    assert recipe["context"]["version"] == VERSION
    assert names("conda-forge") <= {word.split()[0] for word in recipe["requirements"]["host"]}
    project = (REPOSITORY / "pyproject.toml").read_text()
    needed = re.findall(r'"([\w-]+)"', re.search(r"^dependencies = (.*)$", project, re.MULTILINE)[1])
    assert needed and set(needed) <= set(recipe["requirements"]["run"])


def test_the_recipe_of_easybuild():
    (path,) = (PACKAGING / "easybuild").glob("*.eb")
    found = {"SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz"}
    exec(path.read_text(), found)
    assert found["version"] == VERSION and path.name.startswith(f"tailrace-{VERSION}-{found['toolchain']['name']}-")
    assert f"tailrace-{VERSION}.tar.gz" in found["checksums"][0]
    assert names("easybuild") <= {name for name, _ in found["dependencies"] + found["builddependencies"]}


@pytest.mark.parametrize("name", [f"{VERSION}.lua", VERSION])
def test_the_module_file(name):
    text = (PACKAGING / "modules" / name).read_text()
    for variable in ("PATH", "LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "MANPATH",
                     "HDF5_PLUGIN_PATH"):
        assert len(re.findall(rf"\b{variable}\b[\", ]", text)) >= 1, variable
    assert VERSION in text
    luac = shutil.which("luac5.4") or shutil.which("luac5.3")
    if name.endswith(".lua") and luac:
        subprocess.run([luac, "-p", PACKAGING / "modules" / name], check=True)


@pytest.mark.parametrize("path", sorted(PACKAGING.glob("slurm/*.sbatch")), ids=lambda path: path.stem)
def test_the_job_for_slurm(path):
    subprocess.run(["bash", "-n", path], check=True)
    head = [line for line in path.read_text().splitlines() if line.startswith("#SBATCH")]
    assert any("--nodes" in line for line in head) and "module load tailrace" in path.read_text()


def test_the_image_installs_what_the_build_links_to():
    text = (PACKAGING / "docker/Dockerfile").read_text()
    stages = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert stages == ["debian:12-slim"] * 2
    for part in ("libyaml-cpp", "libfmt", "libspdlog", "libssl", "libzstd", "libdeflate", "libucx", "libarchive",
                 "libpugixml", "libpcre2", "libblosc", "liblzf", "libaec"):
        assert re.search(rf"\b{part}[\w.-]*", text), part
