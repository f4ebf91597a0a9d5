"""Runs of the program `replay` of this folder: descriptions in XML, calls of each client, and what they left."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import subprocess
from collections.abc import Sequence

import h5py
import numpy as np
from tailrace import mpis

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
#: Another build's programs can be tried: one with sanitizers.
PROGRAMS = pathlib.Path(os.environ.get("DAMARIS_PROGRAMS", REPOSITORY / "build" / "release" / "tests" / "damaris"))

OK, NO_SERVER, ALLOCATION_ERROR, DATASPACE_ERROR, INIT_ERROR = 0, 4, 5, 9, 1
UNDEFINED_ACTION, UNDEFINED_PARAMETER, UNDEFINED_VARIABLE, INVALID_BLOCK = 14, 15, 16, 17
INVALID_DIMENSIONS, BLOCK_NOT_FOUND, CHANNEL_ERROR, ERROR_UNKNOWN = 18, 19, 10, 22

_XML = """\
<?xml version="1.0"?>
<simulation name="sim" language="c" xmlns="http://damaris.gforge.inria.fr/damaris/model">
  <architecture>
    <domains count="{domains}"/>
    <dedicated cores="{cores}" nodes="{nodes}"/>
    <placement/>
    <buffer name="buffer" size="{buffer}"/>
    <queue name="queue" size="100"/>
  </architecture>
  <data>
{data}
  </data>
  <storage>
    <store name="store" type="HDF5"{frequency}>
      <option key="FileMode">{mode}</option>
      <option key="XDMFMode">NoIteration</option>
      <option key="FilesPath">{path}</option>
    </store>
  </storage>
  <actions>
{actions}
  </actions>
</simulation>
"""


def xml(data: str, *, mode: str = "FilePerCore", cores: int = 1, nodes: int = 0, domains: int = 1,
        buffer: int = 8 << 20, path: str = "out/", actions: str = "", frequency: str = "") -> str:
    return _XML.format(data=data, mode=mode, cores=cores, nodes=nodes, domains=domains, buffer=buffer, path=path,
                       actions=actions, frequency=frequency)


@dataclasses.dataclass
class Run:
    """What a run left."""

    returncode: int
    output: str
    codes: list[list[int]]  # of each client: one a call, and that of damaris_stop
    start: int
    finalize: int


def replay(mpi: mpis.Mpi, directory: pathlib.Path, description: str, calls: Sequence[Sequence[str]], *,
           cores: int = 1, environment: dict[str, str] | None = None, timeout: float = 600) -> Run:
    """Runs a client for each list of calls, and `cores` dedicated ranks."""
    (directory / "out").mkdir(exist_ok=True)
    (directory / "sim.xml").write_text(description)
    for client, lines in enumerate(calls):
        (directory / f"calls.{client}").write_text("".join(line + "\n" for line in lines))
    command = mpi.start(len(calls) + cores, PROGRAMS / f"damaris_replay_{mpi.name}", "sim.xml", ".")
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=timeout, check=False,
                          env=environment)
    codes = []
    for client in range(len(calls)):
        file = directory / f"codes.{client}"
        codes.append([int(line) for line in file.read_text().split()] if file.exists() else [])
    found = re.search(r"start (\d+) finalize (\d+)", done.stdout)
    start, finalize = (int(found[1]), int(found[2])) if found else (-1, -1)
    return Run(done.returncode, done.stdout + done.stderr, codes, start, finalize)


def contents(file: pathlib.Path) -> dict[str, np.ndarray]:
    """Returns all datasets of a file, by their paths."""
    found: dict[str, np.ndarray] = {}

    def visit(name: str, thing: object) -> None:
        if isinstance(thing, h5py.Dataset):
            found[name] = thing[...]

    with h5py.File(file) as opened:
        opened.visititems(visit)
    return found


def counting(shape: Sequence[int], first: int, dtype: str) -> np.ndarray:
    """Returns the array that `write` writes."""
    return (np.arange(int(np.prod(shape)), dtype="int64") + first).astype(dtype).reshape(shape)
