"""The pitzDaily LES case of OpenFOAM's tutorials, refined, and one run of it."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence

from tailrace.cli import run as run_command
from tailrace_lab.bench.program import Failed

TUTORIAL = "compressible/rhoPimpleFoam/LES/pitzDaily"
SOLVER = "rhoPimpleFoam"
_PLACES = ("/usr/share/doc/openfoam-examples/examples", "$FOAM_TUTORIALS")
_STEP = 1e-5  # seconds of the tutorial's time step


@dataclasses.dataclass(frozen=True)
class Way:
    """A way to write the case's output."""

    name: str
    handler: str  #: of OpenFOAM; "" for none, which writes nothing
    place: str = ""  #: of tailrace

    @property
    def writes(self) -> bool:
        return bool(self.handler)


NONE = Way("nothing", "")
UNCOLLATED = Way("uncollated", "uncollated")
COLLATED = Way("collated", "collated")
THREAD = Way("tailrace thread", "tailrace", "thread")
CORE = Way("tailrace core", "tailrace", "core")
WAYS = (NONE, UNCOLLATED, COLLATED, THREAD, CORE)


@dataclasses.dataclass(frozen=True)
class Run:
    """One run, in seconds."""

    total: float  #: of the solver
    synced: float  #: until its files are on the device
    mebibytes: float


def tutorials() -> pathlib.Path:
    """Returns the folder of the tutorials. Raises Failed."""
    for place in _PLACES:
        path = pathlib.Path(os.path.expandvars(place))
        if (path / TUTORIAL).is_dir():
            return path
    raise Failed("found no tutorials of OpenFOAM; install Debian's openfoam-examples, or set FOAM_TUTORIALS")


def prepare(folder: pathlib.Path, refine: int, ranks: int) -> None:
    """Makes the case with `refine`² times the tutorial's cells, decomposed for `ranks`. Raises Failed."""
    shutil.copytree(tutorials() / TUTORIAL, folder)
    mesh = folder / "system/blockMeshDict"
    mesh.write_text(re.sub(r"\((\d+) (\d+) 1\)",
                           lambda cells: f"({int(cells[1]) * refine} {int(cells[2]) * refine} 1)", mesh.read_text()))
    _execute(["blockMesh"], folder)
    if ranks > 1:
        (folder / "system/decomposeParDict").write_text(
            "FoamFile { version 2.0; format ascii; class dictionary; object decomposeParDict; }\n"
            f"numberOfSubdomains {ranks};\nmethod simple;\nsimpleCoeffs {{ n ({ranks} 1 1); delta 0.001; }}\n")
        _execute(["decomposePar"], folder)


def configure(folder: pathlib.Path, refine: int, steps: int, interval: int, form: str) -> None:
    """Sets how many steps are computed, and after how many the case is written."""
    step = _STEP / refine
    entries = {"deltaT": f"{step:.12g}", "endTime": f"{step * steps:.12g}", "writeInterval": str(interval),
               "writeFormat": form, "timePrecision": "12", "startFrom": "startTime"}
    path = folder / "system/controlDict"
    text = path.read_text()
    for name, value in entries.items():
        text = re.sub(rf"^{name}\s.*?;", f"{name} {value};", text, flags=re.MULTILINE)
    path.write_text(text)


def solve(case: pathlib.Path, folder: pathlib.Path, way: Way, ranks: int = 1,
          trace: pathlib.Path | None = None) -> Run:
    """Runs a copy of the case in `folder`, which must not exist. Raises Failed."""
    shutil.copytree(case, folder)
    more: dict[str, str] = {}
    words = [SOLVER, *(["-parallel"] if ranks > 1 else [])]
    if way.handler == "tailrace":
        more = run_command.openfoam_variables(None, way.place, None, os.environ, True, trace=trace)
    elif way.handler == "collated":
        words += ["-fileHandler", "collated"]
        with (folder / "system/controlDict").open("a") as control:  # without it there is no thread
            control.write("OptimisationSwitches { maxThreadFileBufferSize 2e9; }\n")
    if ranks > 1:
        words = ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks),
                 *words]
    os.sync()
    begun = time.monotonic()
    _execute(words, folder, more)
    total = time.monotonic() - begun
    os.sync()
    synced = time.monotonic() - begun
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return Run(total, synced, size / (1 << 20))


def log_of(folder: pathlib.Path) -> str:
    """Returns what the programs have printed that ran in the folder."""
    return _log(folder).read_text(errors="replace")


def environment() -> dict[str, str]:
    """Returns what OpenFOAM's programs need."""
    return {"WM_PROJECT_DIR": str(run_command.OPENFOAM_FOLDER), "OMPI_MCA_mpi_yield_when_idle": "1", **os.environ}


def _log(folder: pathlib.Path) -> pathlib.Path:
    return folder.parent / f"{folder.name}.log"


def _execute(words: Sequence[str], folder: pathlib.Path, more: Mapping[str, str] | None = None) -> None:
    try:
        with _log(folder).open("a") as log:
            done = subprocess.run(words, cwd=folder, env={**environment(), **(more or {})}, stdin=subprocess.DEVNULL,
                                  stdout=log, stderr=subprocess.STDOUT, check=False)
    except FileNotFoundError:
        raise Failed(f"found no program {words[0]}: install OpenFOAM (tools/setup.sh does on Debian)") from None
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}: exit code {done.returncode}\n{log_of(folder)[-2000:]}")
