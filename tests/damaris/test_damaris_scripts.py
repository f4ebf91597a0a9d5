"""Python scripts of a description: they get the data as Damaris gives them, and nothing of that is stored."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Sequence

import numpy as np
import replay_runs as runs
from tailrace import mpis

SCRIPT = """\
import json
try:
    seen += 1
except NameError:
    seen = 1


def main(DD):
    found = DD["iteration_data"]
    print("iteration", found["iteration"])
    entry = {"iteration": found["iteration"], "seen": seen, "clients": DD["damaris_env"]["clients_per_node"]}
    for name in ("t", "g/only"):
        blocks = found[name]["numpy_data"]
        entry[name] = {key: [float(array.sum()), list(array.shape)] for key, array in blocks.items()}
        assert all(not array.flags.writeable for array in blocks.values())
        assert len(found[name]["sort_list"]) == len(blocks)
    with open(PLACE, "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + chr(10))
    if found["iteration"] == FAILS:
        raise ValueError("a fault of the script")


if __name__ == "__main__":
    main(DamarisData)
"""

DATA = """\
    <layout name="l" type="double" dimensions="2,5" ghosts="0:0,1:1"/>
    <variable name="t" layout="l" store="store" script="analysis"/>
    <group name="g"><variable name="only" layout="l" script="analysis"/></group>"""


def _run(mpi: mpis.Mpi, directory: pathlib.Path, fails: int, script: str = SCRIPT,
         before: Sequence[list[str]] = ([], [])) -> runs.Run:
    (directory / "script.py").write_text(script.replace("PLACE", repr(str(directory / "found"))).replace(
        "FAILS", str(fails)))
    description = runs.xml(DATA).replace("  <actions>", """\
  <scripts><pyscript name="analysis" file="script.py" language="python" frequency="2"/></scripts>
  <actions>""")
    calls = [[*before[rank], *(line for step in range(4) for line in (
        f"write t 0 d 10 {step + 10 * rank}", f"alloc g/only 0 d 10 {step}", "commit g/only 0", "end"))]
        for rank in range(2)]
    # Of its own, so that nothing of another test is taken for left behind; short, since it gets sockets.
    with tempfile.TemporaryDirectory(prefix="d") as temporary:
        run = runs.replay(mpi, directory, description, calls,
                          environment={**os.environ, "VIRTUAL_ENV": str(runs.REPOSITORY / ".venv"),
                                       "TMPDIR": temporary})
        assert not list(pathlib.Path(temporary).glob("tailrace-damaris-*"))
    return run


def test_a_script(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """It runs in each second iteration, with the blocks of all clients, and keeps its globals."""
    run = _run(mpi, tmp_path, -1)
    assert run.codes == [[0] * 17] * 2, run.output
    found = [json.loads(line) for line in (tmp_path / "found").read_text().splitlines()]
    assert [(one["iteration"], one["seen"], one["clients"]) for one in found] == [(0, 1, 2), (2, 2, 2)]
    for one in found:
        for rank in range(2):
            inside = runs.counting((2, 5), one["iteration"] + 10 * rank, "float64")[:, 1:4]
            assert one["t"][f"P{rank}_B0"] == [inside.sum(), [2, 3]]
    for step in range(4):
        stored = runs.contents(tmp_path / "out" / f"sim_It{step}_Pr0.h5")
        assert sorted(stored) == ["t/P0", "t/P1"]
        np.testing.assert_array_equal(stored["t/P1"], runs.counting((2, 5), step + 10, "float64")[:, 1:4])
    assert "iteration 2" in run.output


MODULE = """\
import json
import damaris

for variable in damaris.get_variables():
    for chunk in variable.chunks:
        entry = [variable.name, chunk.iteration, chunk.source, chunk.lower_bounds, chunk.upper_bounds]
        with open(PLACE, "a", encoding="utf-8") as file:
            file.write(json.dumps([*entry, chunk.data.sum()]) + chr(10))
damaris.clear()
assert [variable.chunks for variable in damaris.get_variables()] == [[], []]
"""


def test_the_module_damaris(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """It has the variables of the script, with the places of their blocks; nothing is left after `clear`."""
    run = _run(mpi, tmp_path, -1, MODULE, [["move t 0 4,0"], ["move t 0 6,0"]])
    assert run.codes == [[0] * 18] * 2, run.output
    found = [json.loads(line) for line in (tmp_path / "found").read_text().splitlines()]
    assert len(found) == 8
    for name, iteration, rank, lower, upper, values in found:
        first = iteration + 10 * rank if name == "t" else iteration
        assert values == runs.counting((2, 5), first, "float64")[:, 1:4].sum()
        begin = 4 + 2 * rank if name == "t" else 0
        assert (lower, upper) == ([begin, 0], [begin + 1, 2])


def test_a_script_that_fails(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """The client is told once, the script does not run again, and all data are stored."""
    run = _run(mpi, tmp_path, 0)
    codes = [code for client in run.codes for code in client]
    assert 1 <= len([code for code in codes if code != runs.OK]) <= 2, run.output
    assert "a fault of the script" in run.output
    assert len((tmp_path / "found").read_text().splitlines()) == 1
    assert len(list((tmp_path / "out").glob("sim_It*_Pr0.h5"))) == 4
