"""Calls of tailrace that report the failure of an earlier block, or are refused, in the middle of Damaris' calls:
what was carried out counts, and what was not can be repeated. A preloaded library gives the answers (answers.c)."""

from __future__ import annotations

import json
import os
import pathlib

import numpy as np
import pytest
import random_programs
import replay_runs as runs
import test_damaris_scripts
from tailrace import mpis

EARLIER = runs.ERROR_UNKNOWN  # nothing has failed in truth, and so the answer has no cause

DATA = """\
    <parameter name="n" type="int" value="5"/>
    <layout name="l" type="double" dimensions="2,n" global="2,n"/>
    <layout name="g" type="double" dimensions="2,n+2" global="2,n" ghosts="0:0,1:1"/>
    <variable name="t" layout="l" store="store"/><variable name="u" layout="l" store="store"/>
    <variable name="v" layout="g" store="store"/><variable name="w" layout="g" store="store"/>
    <variable name="once" layout="l" store="store" time-varying="false"/>"""


def answers(text: str, **more: str) -> dict[str, str]:
    """Returns the environment in which tailrace answers so."""
    library = runs.PROGRAMS / "libdamaris_answers.so"
    return {**os.environ, "LD_PRELOAD": str(library), "TAILRACE_ANSWERS": text, **more}


def _calls(step: int) -> list[str]:
    n = 5 + step
    return [f"retry set n i {n}", f"retry write t 0 d {2 * n} {step}", f"retry alloc u 0 d {2 * n} {step + 10}",
            "retry commit u 0", f"retry write v 0 d {2 * n + 4} {step + 20}",
            f"retry alloc w 0 d {2 * n + 4} {step + 30}", "retry commit w 0"]


def _check_files(directory: pathlib.Path, steps: int) -> None:
    assert sorted(file.name for file in (directory / "out").iterdir() if not file.name.startswith(".")) == [
        f"sim_It{step}_Pr0.h5" for step in range(steps)]
    for step in range(steps):
        n = 5 + step
        found = runs.contents(directory / "out" / f"sim_It{step}_Pr0.h5")
        assert sorted(found) == [*(["once/P0"] if step == 0 else []), "t/P0", "u/P0", "v/P0", "w/P0"], step
        for name, first, ghosts in (("t", 0, 0), ("u", 10, 0), ("v", 20, 1), ("w", 30, 1)):
            expected = runs.counting((2, n + 2 * ghosts), step + first, "float64")[:, ghosts:n + ghosts]
            np.testing.assert_array_equal(found[f"{name}/P0"], expected, err_msg=f"{step} {name}")


@pytest.mark.parametrize("call", ["write", "alloc", "alloc_kept", "commit", "set_parameters", "end_iteration"])
@pytest.mark.parametrize("answer", [302, 201], ids=["earlier failure", "refused"])
@pytest.mark.parametrize("number", [1, 2])
def test_each_call(mpi: mpis.Mpi, tmp_path: pathlib.Path, call: str, answer: int, number: int) -> None:
    """A program that repeats what was refused, and nothing else, gets all its files."""
    lines = ["retry write once 0 d 10 7", *_calls(0), "end", *_calls(1), "end", *_calls(2), "end",
             "write once 0 d 10 8"]
    run = runs.replay(mpi, tmp_path, runs.xml(DATA), [lines], environment=answers(f"{call}:{number}={answer}"))
    told = EARLIER if answer == 302 else runs.CHANNEL_ERROR
    expected = 1 if answer == 302 or call == "end_iteration" else 0  # the others were repeated
    assert run.codes[0].count(told) == expected, (run.codes, run.output)
    assert run.codes[0][-2:] == [runs.ALLOCATION_ERROR, 0], (run.codes, run.output)
    assert set(run.codes[0][:-2]) <= {0, told}, (run.codes, run.output)
    _check_files(tmp_path, 3)


def test_scripts_get_what_was_committed(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Also if the commit tells an earlier failure."""
    (tmp_path / "script.py").write_text(test_damaris_scripts.SCRIPT.replace(
        "PLACE", repr(str(tmp_path / "found"))).replace("FAILS", "-1"))
    description = runs.xml(test_damaris_scripts.DATA).replace("  <actions>", """\
  <scripts><pyscript name="analysis" file="script.py" language="python" frequency="1"/></scripts>
  <actions>""")
    # Of blocks with ghosts, tailrace commits one for the store and one for the script.
    lines = [line for step in range(3) for line in (
        f"alloc t 0 d 10 {step}", "commit t 0", f"write g/only 0 d 10 {step}", "end")]
    run = runs.replay(mpi, tmp_path, description, [lines], environment=answers(
        "commit:1=302,commit:5=302", VIRTUAL_ENV=str(runs.REPOSITORY / ".venv")))
    assert run.codes == [[0, EARLIER, 0, 0, 0, EARLIER, 0, 0, 0, 0, 0, 0, 0]], run.output
    found = [json.loads(line) for line in (tmp_path / "found").read_text().splitlines()]
    for step in range(3):
        inside = runs.counting((2, 5), step, "float64")[:, 1:4]
        for name in ("t", "g/only"):
            assert found[step][name] == {"P0_B0": [inside.sum(), [2, 3]]}, (step, name)


def test_a_block_that_does_not_vary(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """It counts as written when it was handed over, and only then."""
    data = DATA.replace('name="w" layout="g" store="store"', 'name="w" layout="g" store="store" time-varying="false"')
    lines = ["write once 0 d 10 1", "write once 0 d 10 2", "write once 0 d 10 3",
             "alloc w 0 d 14 4", "commit w 0", "commit w 0", "alloc w 0 d 14 5", "commit w 0", "end"]
    run = runs.replay(mpi, tmp_path, runs.xml(data), [lines], environment=answers("write:1=201,commit:1=201"))
    assert run.codes == [[runs.CHANNEL_ERROR, 0, runs.ALLOCATION_ERROR, 0, runs.CHANNEL_ERROR, 0, 0,
                          runs.ALLOCATION_ERROR, 0, 0]], run.output
    found = runs.contents(tmp_path / "out" / "sim_It0_Pr0.h5")
    np.testing.assert_array_equal(found["once/P0"], runs.counting((2, 5), 2, "float64"))
    np.testing.assert_array_equal(found["w/P0"], runs.counting((2, 7), 4, "float64")[:, 1:6])


@pytest.mark.parametrize("fault", ["enable:1=302", "commit:1=302", "enable:2=302"])
def test_a_block_that_is_not_committed(mpi: mpis.Mpi, tmp_path: pathlib.Path, fault: str) -> None:
    """Giving it back leaves its variable as it was, whatever the calls for that tell."""
    lines = ["alloc t 0 d 10 1", "end", "write t 0 d 10 2", "end"]
    run = runs.replay(mpi, tmp_path, runs.xml(DATA), [lines], environment=answers(fault))
    assert run.codes == [[0, runs.BLOCK_NOT_FOUND, 0, 0, 0]], run.output
    np.testing.assert_array_equal(runs.contents(tmp_path / "out" / "sim_It1_Pr0.h5")["t/P0"],
                                  runs.counting((2, 5), 2, "float64"))


@pytest.mark.parametrize("lines", [["write v 0 d 14 3"], ["alloc v 0 d 14 3", "commit v 0"],
                                   ["alloc u 0 d 10 3", "commit u 0"]], ids=["copied", "with ghosts", "without"])
def test_a_refused_block_leaves_its_iteration(mpi: mpis.Mpi, tmp_path: pathlib.Path, lines: list[str]) -> None:
    """If the program goes on without it, the others of the iteration, and later ones of its variable, are written."""
    run = runs.replay(mpi, tmp_path, runs.xml(DATA), [[*lines, "write t 0 d 10 1", "end", *lines, "end"]],
                      environment=answers("commit:1=201"))
    refused = [*[0] * (len(lines) - 1), runs.CHANNEL_ERROR]
    left = runs.BLOCK_NOT_FOUND if len(lines) == 2 else 0
    assert run.codes == [[*refused, 0, left, *[0] * len(lines), 0, 0]], run.output
    assert list(runs.contents(tmp_path / "out" / "sim_It0_Pr0.h5")) == ["t/P0"]
    assert len(runs.contents(tmp_path / "out" / "sim_It1_Pr0.h5")) == 1


SEEDS = [int(os.environ["DAMARIS_SEED"])] if "DAMARIS_SEED" in os.environ else list(range(3))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_program(mpi: mpis.Mpi, tmp_path: pathlib.Path, seed: int) -> None:
    """Random programs whose calls are answered at random. Repeat one by DAMARIS_SEED=<seed>."""
    case = random_programs.make(seed)
    calls = [["retry " + line for line in lines] for lines in case.calls]
    calls = [[line.removeprefix("retry ") if line == "retry end" else line for line in lines] for lines in calls]
    run = runs.replay(mpi, tmp_path, case.xml, calls, cores=case.cores, environment=answers(
        f"random:{seed}", TAILRACE_DAMARIS_NODE_SIZE=str(case.node_size)))
    allowed = {*case.codes, EARLIER, runs.CHANNEL_ERROR}
    assert all(code in allowed for codes in run.codes for code in codes), (seed, run.codes, run.output)
    random_programs.check_files(case, tmp_path / "out", seed)
