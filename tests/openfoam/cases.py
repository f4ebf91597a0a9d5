"""OpenFOAM's own tutorials as cases for tests: small, and run for a few of their times."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess

TUTORIALS = pathlib.Path("/usr/share/doc/openfoam-examples/examples")
LIMIT = 600  # seconds for one run


@dataclasses.dataclass(frozen=True)
class Case:
    """A tutorial, and what of its controlDict is changed."""

    tutorial: str
    changes: tuple[tuple[str, str], ...]  # entries and their values

    @property
    def solver(self):
        return pathlib.Path(self.tutorial).parts[1]


PITZ_DAILY = Case("compressible/rhoPimpleFoam/LES/pitzDaily", (("endTime", "4e-5"), ("writeInterval", "1")))
OBLIQUE_SHOCK = Case("compressible/rhoCentralFoam/obliqueShock", (("endTime", "0.06"), ("writeInterval", "0.02")))
MOVING_CONE = Case("incompressible/pimpleFoam/laminar/movingCone", (("endTime", "6e-5"), ("writeInterval", "4")))
PARCELS = Case("lagrangian/reactingParcelFoam/parcelInBox", (("endTime", "0.03"), ("writeInterval", "0.01")))
ALL = {"pitzDaily": PITZ_DAILY, "obliqueShock": OBLIQUE_SHOCK, "movingCone": MOVING_CONE, "parcelInBox": PARCELS}


def environment():
    return {**os.environ, "WM_PROJECT_DIR": os.environ.get("WM_PROJECT_DIR", "/usr/share/openfoam"),
            "OMPI_MCA_mpi_yield_when_idle": "1"}


def execute(words, folder, more=None):
    """Runs a program in a case's folder; its output goes to a file that log_of() reads."""
    with log_path(folder).open("a") as log:
        done = subprocess.run([str(word) for word in words], cwd=folder, env={**environment(), **(more or {})},
                              stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, timeout=LIMIT,
                              check=False)
    return done.returncode


def log_path(folder):
    """Not in the case, whose files are compared, and not beside it, where the disk may be full."""
    return folder.parent.parent / f"{folder.parent.name}_{folder.name}.log"


def log_of(folder):
    return log_path(folder).read_text(errors="replace")


def must(words, folder, more=None):
    assert execute(words, folder, more) == 0, log_of(folder)[-3000:]


def change(folder, **entries):
    """Changes entries of a controlDict, or adds them."""
    path = folder / "system/controlDict"
    text = path.read_text()
    for name, value in entries.items():
        text, found = re.subn(rf"^{name}\s.*?;", f"{name} {value};", text, flags=re.MULTILINE)
        if not found:
            text += f"{name} {value};\n"
    path.write_text(text)


def prepare(case, folder, ranks=1, **entries):
    """Makes a case that can be run: with its mesh, and decomposed."""
    shutil.copytree(TUTORIALS / case.tutorial, folder)
    change(folder, **{**dict(case.changes), **entries})
    must(["blockMesh"], folder)
    if ranks > 1:
        (folder / "system/decomposeParDict").write_text(
            "FoamFile { version 2.0; format ascii; class dictionary; object decomposeParDict; }\n"
            f"numberOfSubdomains {ranks};\nmethod simple;\nsimpleCoeffs {{ n ({ranks} 1 1); delta 0.001; }}\n")
        must(["decomposePar"], folder)


def solve(case, ranks=1):
    """Returns the command that runs a case."""
    if ranks == 1:
        return [case.solver]
    return ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", ranks,
            case.solver, "-parallel"]


def files(folder):
    """Returns the contents of all files below a folder, by their paths."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def times(folder):
    return sorted((path for path in folder.iterdir() if re.fullmatch(r"[0-9.e+-]+", path.name)),
                  key=lambda path: float(path.name))
