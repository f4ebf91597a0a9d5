"""The recipes of packaging/ can be read, have tailrace's version, and name what it depends on, no more."""

import contextlib
import csv
import os
import re
import shutil
import subprocess
import sys
import tomllib
import types

import pytest
from conftest import REPOSITORY

PACKAGING = REPOSITORY / "packaging"
CONFIGURED = (REPOSITORY / "CMakeLists.txt").read_text()
VERSION = re.search(r"project\(tailrace VERSION ([\d.]+)", CONFIGURED)[1]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
SPACK = PACKAGING / "spack/spack_repo/tailrace"


def names(of):
    with (PACKAGING / "names.csv").open(newline="") as file:
        return {row[of] for row in csv.DictReader(file)} - {""}


def name_of(requirement):
    """Returns the name of the package that a requirement or a spec of Spack is for."""
    return re.match(r"[\w-]+", requirement)[0]


def needed_by(part):
    """Returns what the Python package needs (part "run"), or its build, as {name: least version or ""}."""
    listed = PROJECT["project"]["dependencies"] if part == "run" else PROJECT["build-system"]["requires"]
    return {name_of(one): one.partition(">=")[2] for one in listed}


def libraries():
    """Returns those of tools/packages.txt that users' builds link."""
    listed = (REPOSITORY / "tools/packages.txt").read_text()
    users = {line.split("#")[0].strip() for line in listed.splitlines() if "# tests" not in line}
    return {name for name in users if re.fullmatch(r"(lib|zlib|nlohmann).*-dev", name)}


def spack(package):
    """Returns a recipe's class, and what it says, as Spack's directives get it."""
    said = {"version": [], "depends_on": [], "variant": [], "license": [], "maintainers": [], "extends": []}
    directives = types.ModuleType("spack.package")
    for name, calls in said.items():
        setattr(directives, name, lambda first, *_, calls=calls, **__: calls.append(first))
    for name in ("when", "default_args"):
        setattr(directives, name, lambda *_, **__: contextlib.nullcontext())
    for name in ("run_after", "on_package_attributes"):
        setattr(directives, name, lambda *_, **__: lambda function: function)
    directives.EnvironmentModifications = directives.join_path = object
    stubs = {"spack": types.ModuleType("spack"), "spack.package": directives}
    for parent in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        stubs[parent] = types.ModuleType(parent)
    for name, parts in {"build_systems.cmake": ("CMakePackage", "generator"),
                        "build_systems.python": ("PythonExtension", "PythonPipBuilder"),
                        "packages.py_shtab.package": ("PyShtab",)}.items():
        stubs[f"spack_repo.builtin.{name}"] = module = types.ModuleType(name)
        vars(module).update({part: type(part, (), {"__init__": lambda *_: None}) for part in parts})
    with pytest.MonkeyPatch.context() as patch:
        for name, module in stubs.items():
            patch.setitem(sys.modules, name, module)
        found = {}
        exec((SPACK / "packages" / package / "package.py").read_text(), found)
    return found["".join(word.title() for word in package.split("_"))], said


def test_each_source_in_the_release_has_a_checksum():
    lines = (REPOSITORY / "tools/portable/sources.sh").read_text().splitlines()
    begin, end = lines.index("done <<'TABLE'"), lines.index("TABLE")
    sums = [line.split()[-1] for line in [*lines[begin + 2:end:2], *lines[end:]]
            if line.startswith(("  ", "crate ")) and "$" not in line and ">&2" not in line]
    crates = next(line for line in lines if line.startswith("fetch_crates ")).split()[1::2]
    assert len(sums) == (end - begin - 1) // 2 + len(crates) == len(set(sums))
    assert all(re.fullmatch("[0-9a-f]{64}", one) for one in sums), sums


def test_all_packages_have_names_elsewhere():
    assert libraries() == names("debian")


def test_the_recipe_of_spack():
    recipe, said = spack("tailrace")
    assert recipe.__doc__ and said["version"] == [VERSION] and said["extends"] == ["python"]
    depended = {name_of(spec) for spec in said["depends_on"]}
    pythons = {f"py-{name}": least for part in ("run", "build") for name, least in needed_by(part).items()}
    tools = {"c", "cxx", "fortran", "cmake", "pkgconfig", "python", "py-pip", "mpi"}
    assert depended == names("spack") | set(pythons) | tools
    for name, least in pythons.items():
        assert not least or f"{name}@{least}:" in said["depends_on"]
    assert "api: v2" in (SPACK / "repo.yaml").read_text()


def test_the_shtab_for_spack_is_new_enough():
    _, said = spack("py_shtab")
    numbers = [tuple(map(int, text.split("."))) for text in (*said["version"], needed_by("run")["shtab"])]
    assert numbers[0] >= numbers[-1]


def test_the_recipe_of_conda_forge():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((PACKAGING / "conda-forge/recipe.yaml").read_text())
    assert recipe["schema_version"] == 1 and recipe["context"]["version"] == VERSION
    host, run = (set(recipe["requirements"][part]) for part in ("host", "run"))
    builds, runs = ({f"{name} >={least}" if least else name for name, least in needed_by(part).items()}
                    for part in ("build", "run"))
    assert host == names("conda-forge") | builds | {"python", "pip"}
    assert run == runs | {"python"}
    scripts = [test for test in recipe["tests"] if "script" in test]
    for path in scripts[0]["files"]["source"]:
        assert (REPOSITORY / path).exists(), path


def test_the_recipe_of_easybuild():
    (path,) = (PACKAGING / "easybuild").glob("*.eb")
    found = {"SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz", "SYSTEM": {"name": "system"}, "SHLIB_EXT": "so"}
    exec(path.read_text(), found)
    assert found["version"] == VERSION and path.name.startswith(f"tailrace-{VERSION}-{found['toolchain']['name']}-")
    assert f"tailrace-{VERSION}.tar.gz" in found["checksums"][0]
    depended = {name for name, *_ in found["dependencies"] + found["builddependencies"]}
    assert depended == names("easybuild") | {"CMake", "Ninja", "pkgconf", "Python"}


RECIPES = [path for folder in ("spack", "conda-forge", "easybuild", "docker", "apptainer")
           for path in sorted((PACKAGING / folder).rglob("*")) if path.is_file()]


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_the_options_of_a_recipe_are_those_of_cmake(path):
    text = path.read_text()
    given = set(re.findall(r'-D(TAILRACE_\w+)|define\w*\("(TAILRACE_\w+)"', text))
    configured = CONFIGURED + (REPOSITORY / "cmake/hdf5.cmake").read_text()
    for option in {name for pair in given for name in pair if name}:
        assert f"({option} " in configured, option


@pytest.mark.parametrize(("folder", "option"), [("spack", '"TAILRACE_COMMAND", self.spec.satisfies("~python")'),
                                                ("conda-forge", "-DTAILRACE_COMMAND=OFF")])
def test_a_prefix_has_one_command_where_the_python_package_is_there_too(folder, option):
    text = "".join(path.read_text() for path in RECIPES if path.is_relative_to(PACKAGING / folder))
    assert "pip" in text and option in text


@pytest.mark.parametrize("folder", ["spack", "conda-forge", "easybuild", "docker", "apptainer"])
def test_a_recipe_runs_what_it_has_built(folder):
    assert any("check.sh" in path.read_text() for path in RECIPES if path.is_relative_to(PACKAGING / folder))
    subprocess.run(["bash", "-n", PACKAGING / "check.sh"], check=True)


@pytest.mark.parametrize("folder", ["spack", "conda-forge", "easybuild"])
def test_a_recipe_fetches_only_the_release(folder):
    text = "".join(path.read_text() for path in RECIPES if path.is_relative_to(PACKAGING / folder))
    assert re.search(r'TAILRACE_THIRD_PARTY(=OFF|", False)', text)
    archives = set(re.findall(r"https?://\S+\.tar\.\w+", text))
    assert all(archive.startswith("https://example.org/tailrace/") for archive in archives)


def test_recipes_take_only_hdf5_from_the_release(tmp_path):
    (tmp_path / "third_party").mkdir()
    (tmp_path / "script.cmake").write_text(
        f"set(PROJECT_SOURCE_DIR {tmp_path})\nset(TAILRACE_THIRD_PARTY OFF)\n"
        f"include({REPOSITORY}/cmake/third_party.cmake)\nmessage($ENV{{TAILRACE_HDF5_SOURCE}})\n")
    environment = {name: value for name, value in os.environ.items() if name != "TAILRACE_HDF5_SOURCE"}
    ended = subprocess.run(["cmake", "-P", tmp_path / "script.cmake"], env=environment, check=True, text=True,
                           capture_output=True)
    assert ended.stderr.strip() == str(tmp_path / "third_party/hdf5.tar.xz")


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


def image(path):
    """Returns what an image is made of: its stages, the packages of the last one, and its variables."""
    text = (PACKAGING / path).read_text().replace("\\\n", "")
    stages = re.findall(r"^(?:FROM|From:) (\S+)", text, re.MULTILINE)
    packages = re.search(r"apt-get install -y --no-install-recommends ([\w.+ -]+)", text)[1].split()
    variables = dict(re.findall(r"(PATH|HDF5_PLUGIN_PATH)=(\S+)", text.partition("rm -rf /var/lib/apt/lists")[2]))
    options = set(re.findall(r"-D\w+=\w+", text))
    return stages, packages, variables, options


def test_the_images_are_made_of_the_same():
    assert image("docker/Dockerfile") == image("apptainer/tailrace.def")


def test_the_images_install_what_the_build_links_to():
    stages, packages, _, _ = image("docker/Dockerfile")
    assert stages == ["debian:12-slim"] * 2
    # Of these the library contains the archives, or there are only headers.
    inside = {"liburing-dev", "libsodium-dev", "libcli11-dev", "nlohmann-json3-dev"}
    for library in libraries() - inside:
        stem = library.removesuffix("-dev")
        assert any(package.startswith(stem) for package in packages), library


def test_the_definition_for_apptainer():
    text = (PACKAGING / "apptainer/tailrace.def").read_text()
    heads = re.findall(r"^%(\w+)(?: from (\w+))?$", text, re.MULTILINE)
    assert heads == [("files", ""), ("post", ""), ("files", "build"), ("post", ""), ("environment", ""),
                     ("runscript", ""), ("test", ""), ("labels", "")]
    assert re.findall(r"^Stage: (\w+)$", text, re.MULTILINE) == ["build", "final"]
    for section in re.findall(r"^%(?:post|environment|runscript|test)\n((?:    .*\n|\n)+)", text, re.MULTILINE):
        subprocess.run(["sh", "-n"], input=section, text=True, check=True)
