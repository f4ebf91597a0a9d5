"""Programs for Damaris, unchanged: what is in their files, read by h5py and compared with a plain model."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import replay_runs as runs
from tailrace import mpis

FIELD = """\
    <parameter name="W" type="int" value="12"/>
    <parameter name="size" type="int" value="1"/>
    <layout name="slab" type="double" dimensions="W/size,5" global="W,5"/>
    <group name="fields"><variable name="t" layout="slab" store="store" unit="K"/></group>
"""


def test_a_file_for_each_server(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Two clients, one dedicated core: a dataset for each client, and nothing unfinished."""
    calls = [["set size i 2", *(line for step in range(3) for line in (
        f"write fields/t 0 d 30 {100 * step + 1000 * rank}", "end"))] for rank in range(2)]
    run = runs.replay(mpi, tmp_path, runs.xml(FIELD), calls)
    assert (run.start, run.finalize) == (runs.OK, runs.OK), run.output
    assert run.codes == [[0] * 8, [0] * 8], run.output
    assert sorted(file.name for file in (tmp_path / "out").iterdir() if file.suffix == ".h5") == [
        f"sim_It{step}_Pr0.h5" for step in range(3)]
    for step in range(3):
        found = runs.contents(tmp_path / "out" / f"sim_It{step}_Pr0.h5")
        assert sorted(found) == ["fields/t/P0", "fields/t/P1"]
        for rank in range(2):
            expected = runs.counting((6, 5), 100 * step + 1000 * rank, "float64")
            np.testing.assert_array_equal(found[f"fields/t/P{rank}"], expected)


def test_a_file_for_all(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Collective: one dataset of the whole, from blocks at their positions."""
    calls = [["set size i 3", f"move fields/t 0 {4 * rank},0",
              *(line for step in range(2) for line in (f"write fields/t 0 d 20 {20 * rank + 500 * step}", "end"))]
             for rank in range(3)]
    run = runs.replay(mpi, tmp_path, runs.xml(FIELD, mode="Collective"), calls)
    assert run.codes == [[0] * 7] * 3, run.output
    for step in range(2):
        found = runs.contents(tmp_path / "out" / f"sim_It{step}.h5")
        assert list(found) == ["fields/t"]
        np.testing.assert_array_equal(found["fields/t"], runs.counting((12, 5), 500 * step, "float64"))


def test_blocks_of_several_domains_and_two_servers(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Three domains a client, four clients, two dedicated cores: each server has its own clients' blocks."""
    data = """\
    <layout name="bar" type="float" dimensions="4" global="48"/>
    <variable name="bar" layout="bar" store="store"/>
    <variable name="seen" layout="bar"/>"""
    calls = [[*(f"write bar {block} f 4 {100 * rank + 10 * block}" for block in range(3)),
              f"write seen 0 f 4 {rank}", "end", "write bar 3 f 4 0", "write bar -1 f 4 0", "write unknown 0 f 4 0"]
             for rank in range(4)]
    run = runs.replay(mpi, tmp_path, runs.xml(data, domains=3, cores=2), calls, cores=2)
    wrong = [runs.INVALID_BLOCK, runs.INVALID_BLOCK, runs.UNDEFINED_VARIABLE]
    assert run.codes == [[0] * 5 + wrong + [0]] * 4, run.output
    for server in range(2):
        found = runs.contents(tmp_path / "out" / f"sim_It0_Pr{server}.h5")
        assert sorted(found) == [f"bar/P{rank}/B{block}" for rank in (2 * server, 2 * server + 1)
                                 for block in range(3)]
        for name, values in found.items():
            rank, block = int(name[5]), int(name[8])
            np.testing.assert_array_equal(values, runs.counting((4,), 100 * rank + 10 * block, "float32"))


@pytest.mark.parametrize("mode", ["FilePerCore", "Collective"])
def test_ghosts_are_cut_off(mpi: mpis.Mpi, tmp_path: pathlib.Path, mode: str) -> None:
    """Ghosts in each of three dimensions, by write and by alloc: the files have what is inside."""
    data = """\
    <layout name="box" type="int" dimensions="2+1+2,3+0+1,4+2+1" global="4,3,4" ghosts="1:2,0:1,2:1"/>
    <variable name="u" layout="box" store="store"/><variable name="v" layout="box" store="store"/>"""
    calls = [[f"move u 0 {2 * rank},0,0", f"move v 0 {2 * rank},0,0", f"write u 0 i 140 {1000 * rank}",
              f"alloc v 0 i 140 {1000 * rank + 7}", "commit v 0", "end"] for rank in range(2)]
    run = runs.replay(mpi, tmp_path, runs.xml(data, mode=mode), calls)
    assert run.codes == [[0] * 7] * 2, run.output
    for name, more in (("u", 0), ("v", 7)):
        inside = [runs.counting((5, 4, 7), 1000 * rank + more, "int32")[1:3, 0:3, 2:6] for rank in range(2)]
        if mode == "Collective":
            found = runs.contents(tmp_path / "out" / "sim_It0.h5")
            np.testing.assert_array_equal(found[name], np.concatenate(inside))
            continue
        found = runs.contents(tmp_path / "out" / "sim_It0_Pr0.h5")
        for rank in range(2):
            np.testing.assert_array_equal(found[f"{name}/P{rank}"], inside[rank])


def test_parameters_change_while_the_program_runs(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """A vector that halves in each iteration, as each client says for itself."""
    data = """\
    <parameter name="n" type="int" value="64"/><parameter name="m" type="long" value="3"/>
    <parameter name="dt" type="double" value="0.5"/><parameter name="title" type="string" value="a b"/>
    <layout name="list" type="short" dimensions="n/2" global="n"/>
    <variable name="x" layout="list" store="store"/>"""
    lines = ["get n", "get m", "get nothing", "set nothing i 1"]
    for step, n in enumerate((64, 32, 16, 0)):
        lines += [f"set n i {n}", "get n", f"write x 0 s {n // 2} {step}", "iteration", "end"]
    codes = [1064, 1003, runs.UNDEFINED_PARAMETER, runs.UNDEFINED_PARAMETER]
    for step, n in enumerate((64, 32, 16, 0)):
        codes += [0, 1000 + n, 0, 1000 + step, 0]
    run = runs.replay(mpi, tmp_path, runs.xml(data), [lines])
    assert run.codes == [[*codes, 0]], run.output
    for step, n in enumerate((64, 32, 16, 0)):
        found = runs.contents(tmp_path / "out" / f"sim_It{step}_Pr0.h5")
        np.testing.assert_array_equal(found["x/P0"], runs.counting((n // 2,), step, "int16"))


def test_memory_of_the_buffer(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """alloc, commit and clear: the memory stays readable until it is cleared, or the next iteration ends."""
    data = """\
    <layout name="l" type="double" dimensions="1000"/>
    <variable name="a" layout="l" store="store"/><variable name="b" layout="l" store="store"/>"""
    lines = [  # a call, and its code
        ("alloc a 0 d 1000 1", 0), ("alloc b 0 d 1000 5", 0), ("commit a 0", 0), ("has a 0 1", 1), ("end", 19),
        ("commit b 0", 19), ("commit_at b 0 0", 19), ("alloc b 0 d 1000 6", 0), ("has a 0 1", 1),
        ("commit b 0", 0), ("commit b 0", 19), ("clear_at a 0 0", 0), ("clear_at a 0 0", 19), ("clear b 0", 0),
        ("end", 0),
        *(pair for step in range(2, 60) for pair in (
            (f"alloc a 0 d 1000 {step}", 0), (f"commit_at a 0 {step}", 0), ("end", 0)))]
    run = runs.replay(mpi, tmp_path, runs.xml(data, buffer=1 << 20), [[line for line, _ in lines]])
    assert run.codes == [[*(code for _, code in lines), 0]], run.output
    assert "'b' is allocated and not committed in iteration 0" in run.output
    first = runs.contents(tmp_path / "out" / "sim_It0_Pr0.h5")
    assert list(first) == ["a/P0"]
    np.testing.assert_array_equal(first["a/P0"], runs.counting((1000,), 1, "float64"))
    np.testing.assert_array_equal(runs.contents(tmp_path / "out" / "sim_It1_Pr0.h5")["b/P0"],
                                  runs.counting((1000,), 6, "float64"))
    np.testing.assert_array_equal(runs.contents(tmp_path / "out" / "sim_It59_Pr0.h5")["a/P0"],
                                  runs.counting((1000,), 59, "float64"))


def test_a_client_with_larger_blocks(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """It gets room for its block, though that is more than its part of the buffer."""
    data = """\
    <parameter name="n" type="int" value="1000"/><layout name="l" type="double" dimensions="n"/>
    <variable name="x" layout="l" store="store"/>"""
    (tmp_path / "before.1").write_text("set n i 600000\n")
    calls = [["write x 0 d 1000 0", "end"], ["write x 0 d 600000 5", "end", "write x 0 d 600000 6", "end"]]
    calls[0] += ["write x 0 d 1000 1", "end"]
    run = runs.replay(mpi, tmp_path, runs.xml(data, buffer=6 << 20), calls)
    assert run.codes == [[0] * 5] * 2, run.output
    found = runs.contents(tmp_path / "out" / "sim_It1_Pr0.h5")
    np.testing.assert_array_equal(found["x/P1"], runs.counting((600000,), 6, "float64"))


def test_variables_that_do_not_vary(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """A mesh is stored once; enabled, store and frequency decide what else is."""
    data = """\
    <layout name="l" type="char" dimensions="3"/>
    <variable name="mesh" layout="l" store="store" time-varying="false"/>
    <variable name="off" layout="l" store="store" enabled="false"/>
    <variable name="t" layout="l" store="store"/>"""
    each = ["write t 0 c 3 1", "write off 0 c 3 1", "end"]
    lines = ["write mesh 0 c 3 7", *each, *each, "write mesh 0 c 3 8", *each]
    run = runs.replay(mpi, tmp_path, runs.xml(data, frequency=' frequency="2"'), [lines])
    assert run.codes == [[0] * 7 + [runs.ALLOCATION_ERROR] + [0] * 4], run.output
    assert sorted(file.name for file in (tmp_path / "out").glob("*.h5")) == ["sim_It0_Pr0.h5", "sim_It2_Pr0.h5"]
    assert sorted(runs.contents(tmp_path / "out" / "sim_It0_Pr0.h5")) == ["mesh/P0", "t/P0"]
    assert sorted(runs.contents(tmp_path / "out" / "sim_It2_Pr0.h5")) == ["t/P0"]


@pytest.mark.parametrize("mode", ["FilePerCore", "Collective"])
def test_without_dedicated_cores(mpi: mpis.Mpi, tmp_path: pathlib.Path, mode: str) -> None:
    """Each client writes itself: its file has its name when damaris_end_iteration returns."""
    name = "sim_It0_Pr0.h5" if mode == "FilePerCore" else "sim_It0.h5"
    calls = [["set size i 2", f"move fields/t 0 {6 * rank},0", f"write fields/t 0 d 30 {30 * rank}", "end",
              f"wait out/{name}"] for rank in range(2)]
    run = runs.replay(mpi, tmp_path, runs.xml(FIELD, mode=mode, cores=0), calls, cores=0)
    assert run.start == runs.NO_SERVER
    assert run.codes == [[0] * 5 + [runs.NO_SERVER]] * 2, run.output
    found = runs.contents(tmp_path / "out" / name)
    whole = runs.counting((12, 5), 0, "float64")
    if mode == "Collective":
        np.testing.assert_array_equal(found["fields/t"], whole)
    else:
        np.testing.assert_array_equal(found["fields/t/P0"], whole[:6])
        found = runs.contents(tmp_path / "out" / "sim_It0_Pr1.h5")
        np.testing.assert_array_equal(found["fields/t/P1"], whole[6:])


def test_a_path_that_is_a_prefix(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """`FilesPath` is the beginning of the names."""
    run = runs.replay(mpi, tmp_path, runs.xml(FIELD, path="out/first_"), [["write fields/t 0 d 60 0", "end"]])
    assert run.codes == [[0, 0, 0]], run.output
    assert (tmp_path / "out" / "first_sim_It0_Pr0.h5").exists()


def test_files_of_an_earlier_run(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """A new run replaces them; files of other names stay."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sim_It0_Pr0_notes.h5").write_text("of the user")
    for iterations in (3, 1):
        run = runs.replay(mpi, tmp_path, runs.xml(FIELD), [["write fields/t 0 d 60 0", "end"] * iterations])
        assert run.codes == [[0] * (2 * iterations + 1)], run.output
        assert {file.name for file in (tmp_path / "out").glob("*.h5")} == {
            "sim_It0_Pr0_notes.h5", *(f"sim_It{step}_Pr0.h5" for step in range(iterations))}


@pytest.mark.slow
def test_twelve_ranks(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Nine clients and three dedicated cores, which do not divide evenly in every case."""
    calls = [["set size i 9", f"write fields/t 0 d 5 {10 * rank}", "end"] for rank in range(9)]
    run = runs.replay(mpi, tmp_path, runs.xml(FIELD.replace('"12"', '"9"'), cores=3), calls, cores=3)
    assert run.codes == [[0] * 4] * 9, run.output
    for server in range(3):
        found = runs.contents(tmp_path / "out" / f"sim_It0_Pr{server}.h5")
        assert sorted(found) == [f"fields/t/P{rank}" for rank in range(3 * server, 3 * server + 3)]
        for name, values in found.items():
            np.testing.assert_array_equal(values, runs.counting((1, 5), 10 * int(name[-1]), "float64"))
