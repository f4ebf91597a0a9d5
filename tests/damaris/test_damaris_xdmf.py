"""XDMF files of Damaris' programs: their grids and references, as XML and h5py show them, and as VTK reads them."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
import replay_runs as runs
import xdmf_files
from tailrace import mpis

SLABS = """\
    <layout name="slab" type="double" dimensions="2,5" global="4,5"/>
    <layout name="column" type="int" dimensions="3"/>
    <variable name="u" layout="slab" store="store" centering="nodal"/>
    <group name="g"><variable name="t" layout="slab" store="store"/></group>
    <variable name="hidden" layout="slab" store="store" visualizable="false"/>
    <variable name="c" layout="column" store="store"/>"""

MESHES = """\
    <layout name="x" type="float" dimensions="4"/><layout name="y" type="double" dimensions="3"/>
    <layout name="cells" type="int" dimensions="2,3"/><layout name="nodes" type="float" dimensions="3,4"/>
    <layout name="named" type="float" dimensions="4,3"/><layout name="list" type="double" dimensions="7"/>
    <mesh name="plane" type="rectilinear" topology="2"><coord name="at/x"/><coord name="at/y"/></mesh>
    <mesh name="bent" type="curvilinear" topology="2"><coord name="at/bx"/><coord name="at/by"/></mesh>
    <mesh name="cloud" type="point" topology="1"><coord name="at/px"/><coord name="at/py"/></mesh>
    <group name="at">
      <variable name="x" layout="x" store="store" time-varying="false" visualizable="false"/>
      <variable name="y" layout="y" store="store" time-varying="false" visualizable="false"/>
      <variable name="bx" layout="nodes" store="store" time-varying="false" visualizable="false"/>
      <variable name="by" layout="nodes" store="store" time-varying="false" visualizable="false"/>
      <variable name="px" layout="list" store="store" visualizable="false"/>
      <variable name="py" layout="list" store="store" visualizable="false"/>
    </group>
    <variable name="cell" layout="cells" mesh="plane" store="store"/>
    <variable name="node" layout="nodes" mesh="plane" store="store"/>
    <variable name="turned" layout="named" mesh="plane" store="store"/>
    <variable name="b" layout="cells" mesh="bent" store="store"/>
    <variable name="p" layout="list" mesh="cloud" store="store"/>
    <variable name="wrong" layout="x" mesh="plane" store="store"/>"""


def _xml(data: str, xdmf: str, **settings: object) -> str:
    return runs.xml(data, **settings).replace("NoIteration", xdmf)  # type: ignore[arg-type]


def _slabs(rank: int, steps: int) -> list[str]:
    moves = [f"move {name} 0 {2 * rank},0" for name in ("u", "g/t")]
    writes = [[f"write u 0 d 10 {100 * rank + step}", f"write g/t 0 d 10 {1000 + 100 * rank + step}",
               f"write hidden 0 d 10 {rank}", f"write c 0 i 3 {rank}", "end"] for step in range(steps)]
    return moves + [line for lines in writes for line in lines]


def test_blocks_on_uniform_grids(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """A grid for each client at its position; values of cells and of nodes; a file that has those of all servers."""
    run = runs.replay(mpi, tmp_path, _xml(SLABS, "EveryIteration", cores=2), [_slabs(rank, 2) for rank in range(2)],
                      cores=2)
    assert run.codes == [[0] * 13] * 2, run.output
    out = tmp_path / "out"
    assert sorted(file.name for file in out.glob("*.xmf*")) == [
        "sim.xmf", *(f"sim_It{step}_Pr{server}.xmf" for step in range(2) for server in range(2))]
    whole = xdmf_files.iterations(out / "sim.xmf")
    assert [one.time for one in whole] == [0, 1]
    for step, iteration in enumerate(whole):
        alone = [xdmf_files.iterations(out / f"sim_It{step}_Pr{server}.xmf") for server in range(2)]
        assert [grid.name for grid in iteration.grids] == [grid.name for (one,) in alone for grid in one.grids]
        assert len(iteration.left_out) == 2
        assert "1 dimension" in iteration.left_out[0]
        found = {name: grid for grid in iteration.grids for name in [(grid.name[-2:], *grid.values)]}
        assert sorted(found) == [(f"P{rank}", name) for rank in range(2) for name in ("g/t", "u")]
        for rank in range(2):
            for name, first, cells in (("u", 0, 0), ("g/t", 1000, 1)):
                grid = found[f"P{rank}", name]
                assert (grid.topology, grid.nodes) == ("2DCoRectMesh", [2 + cells, 5 + cells])
                assert grid.center == {name: "Cell" if cells else "Node"}
                np.testing.assert_array_equal(grid.geometry, [[2 * rank, 0], [1, 1]])
                np.testing.assert_array_equal(
                    grid.values[name], runs.counting((2, 5), first + 100 * rank + step, "float64"))


def test_a_file_for_all(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Collective, the first iteration: one grid for all variables of one shape."""
    data = SLABS.replace(' centering="nodal"', "").replace('dimensions="3"', 'dimensions="3" global="6"')
    run = runs.replay(mpi, tmp_path, _xml(data, "FirstIteration", mode="Collective"),
                      [[*_slabs(rank, 2)[:2], f"move c 0 {3 * rank}", f"move hidden 0 {2 * rank},0",
                        *_slabs(rank, 2)[2:]] for rank in range(2)])
    assert run.codes == [[0] * 15] * 2, run.output
    out = tmp_path / "out"
    assert sorted(file.name for file in out.glob("*.xmf*")) == ["sim.xmf", "sim_It0.xmf"]
    for name in ("sim.xmf", "sim_It0.xmf"):
        (iteration,) = xdmf_files.iterations(out / name)
        (grid,) = iteration.grids
        assert (grid.name, grid.nodes) == ("5x6", [5, 6])
        for one, first in (("u", 0), ("g/t", 1000)):
            blocks = [runs.counting((2, 5), first + 100 * rank, "float64") for rank in range(2)]
            np.testing.assert_array_equal(grid.values[one], np.concatenate(blocks))


def _meshes(step: int) -> list[str]:
    fixed = ["write at/x 0 f 4 10", "write at/y 0 d 3 20", "write at/bx 0 f 12 0", "write at/by 0 f 12 50"]
    return [*(fixed if step == 0 else []), f"write at/px 0 d 7 {step}", "write at/py 0 d 7 5",
            f"write cell 0 i 6 {step}", f"write node 0 f 12 {step}", f"write turned 0 f 12 {30 + step}",
            f"write b 0 i 6 {40 + step}", f"write p 0 d 7 {60 + step}", "write wrong 0 f 4 0", "end"]


@pytest.mark.parametrize("cores", [1, 0])
def test_meshes(mpi: mpis.Mpi, tmp_path: pathlib.Path, cores: int) -> None:
    """Rectilinear, curvilinear and points; coordinates that are written once are those of later iterations, too."""
    lines = [line for step in range(2) for line in _meshes(step)]
    run = runs.replay(mpi, tmp_path, _xml(MESHES, "EveryIteration", cores=cores), [lines], cores=cores)
    assert run.codes == [[0] * len(lines) + [0 if cores else runs.NO_SERVER]], run.output
    for step, iteration in enumerate(xdmf_files.iterations(tmp_path / "out" / "sim.xmf")):
        grids = {grid.name: grid for grid in iteration.grids}
        assert sorted(grids) == ["bent P0", "cloud P0", "plane P0"]
        assert len(iteration.left_out) == 1
        assert "wrong/P0: found shape [4], expected a value for each" in iteration.left_out[0]
        plane = grids["plane P0"]
        assert (plane.topology, plane.nodes) == ("2DRectMesh", [3, 4])
        assert plane.center == {"cell": "Cell", "node": "Node", "turned": "Node"}
        np.testing.assert_array_equal(plane.geometry[0], runs.counting((4,), 10, "float32"))
        np.testing.assert_array_equal(plane.geometry[1], runs.counting((3,), 20, "float64"))
        np.testing.assert_array_equal(plane.values["cell"], runs.counting((2, 3), step, "int32"))
        bent = grids["bent P0"]
        assert (bent.topology, bent.nodes, bent.center) == ("2DSMesh", [3, 4], {"b": "Cell"})
        np.testing.assert_array_equal(bent.geometry[1], runs.counting((3, 4), 50, "float32"))
        assert not bent.geometry[2].any()
        cloud = grids["cloud P0"]
        assert (cloud.topology, cloud.nodes) == ("Polyvertex", [7])
        np.testing.assert_array_equal(cloud.geometry[0], runs.counting((7,), step, "float64"))
        np.testing.assert_array_equal(cloud.values["p"], runs.counting((7,), 60 + step, "float64"))


def test_domains_and_a_new_run(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """Each domain has its own mesh; a new run removes the XDMF files of the earlier one, and no others."""
    data = """\
    <layout name="x" type="double" dimensions="3"/><layout name="cells" type="short" dimensions="2,2"/>
    <mesh name="m" type="rectilinear" topology="2"><coord name="x"/><coord name="y"/></mesh>
    <variable name="x" layout="x" store="store"/><variable name="y" layout="x" store="store"/>
    <variable name="v" layout="cells" mesh="m" store="store"/>"""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.xmf").write_text("of the user")
    for steps in (2, 1):
        lines = [line for _ in range(steps) for block in range(2) for line in (
            f"write x {block} d 3 {10 * block}", f"write y {block} d 3 0", f"write v {block} s 4 {block}")]
        lines = [one for step in range(steps) for one in [*lines[6 * step:6 * step + 6], "end"]]
        run = runs.replay(mpi, tmp_path, _xml(data, "EveryIteration", domains=2), [lines])
        assert run.codes == [[0] * (7 * steps + 1)], run.output
        assert sorted(file.name for file in (tmp_path / "out").glob("*.xmf")) == [
            "mine.xmf", "sim.xmf", *(f"sim_It{step}_Pr0.xmf" for step in range(steps))]
    (iteration,) = xdmf_files.iterations(tmp_path / "out" / "sim.xmf")
    assert [grid.name for grid in iteration.grids] == ["m_b0 P0/B0", "m_b1 P0/B1"]
    for block, grid in enumerate(iteration.grids):
        np.testing.assert_array_equal(grid.geometry[0], runs.counting((3,), 10 * block, "float64"))
        np.testing.assert_array_equal(grid.values["v"], runs.counting((2, 2), block, "int16"))


def test_vtk_reads_them(mpi: mpis.Mpi, tmp_path: pathlib.Path) -> None:
    """VTK's reader, which ParaView has, finds the same values on the same nodes."""
    xdmf2 = pytest.importorskip("vtkmodules.vtkIOXdmf2", reason="needs the package vtk")
    numpy_support = pytest.importorskip("vtkmodules.util.numpy_support")
    lines = [line for step in range(2) for line in _meshes(step)]
    run = runs.replay(mpi, tmp_path, _xml(MESHES, "EveryIteration"), [lines])
    assert run.codes == [[0] * (len(lines) + 1)], run.output
    reader = xdmf2.vtkXdmfReader()
    reader.SetFileName(str(tmp_path / "out" / "sim.xmf"))
    reader.UpdateInformation()
    steps = reader.GetOutputInformation(0)
    assert [steps.Get(reader.GetExecutive().TIME_STEPS(), i) for i in range(2)] == [0, 1]
    reader.UpdateTimeStep(1)
    blocks = reader.GetOutputDataObject(0)
    found = {}
    for i in range(blocks.GetNumberOfBlocks()):
        data = blocks.GetBlock(i)
        for kind in (data.GetPointData(), data.GetCellData()):
            for j in range(kind.GetNumberOfArrays()):
                found[kind.GetArray(j).GetName()] = (data, numpy_support.vtk_to_numpy(kind.GetArray(j)))
    assert sorted(found) == ["b", "cell", "node", "p", "turned"]
    for name, first, count in (("cell", 1, 6), ("node", 1, 12), ("turned", 31, 12), ("b", 41, 6), ("p", 61, 7)):
        np.testing.assert_array_equal(found[name][1], np.arange(count) + first)
    assert found["cell"][0].GetBounds() == (10, 13, 20, 22, 0, 0)
    assert found["b"][0].GetBounds() == (0, 11, 50, 61, 0, 0)
    assert found["p"][0].GetPoint(2) == (3, 7, 0)
