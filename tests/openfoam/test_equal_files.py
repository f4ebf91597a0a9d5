"""Programs of OpenFOAM leave with tailrace the files that they leave without, byte for byte.

The programs are tutorials of compressible flow, of a moving mesh and of particles.
"""

import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from openfoam import cases
from openfoam.carried import variables as carried_by
from tailrace import cli
from tailrace.cli import run as run_command

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python/forward"))
import forward_world as world  # noqa: E402

pytestmark = pytest.mark.skipif(shutil.which("blockMesh") is None, reason="no OpenFOAM here")


@dataclasses.dataclass(frozen=True)
class Way:
    """How a case writes, and how tailrace carries it."""

    place: str = "thread"
    ranks: int = 1
    budget: str = "256MiB"
    entries: tuple[tuple[str, str], ...] = ()


ASCII = Way()
BINARY = Way("core", entries=(("writeFormat", "binary"),))
COMPRESSED = Way(budget="1MiB", entries=(("writeCompression", "on"),))
DECOMPOSED = Way(ranks=2)
DECOMPOSED_CORE = Way("core", 2, entries=(("writeFormat", "binary"),))
WAYS = {"ascii": ASCII, "binary": BINARY, "compressed": COMPRESSED, "decomposed": DECOMPOSED,
        "decomposed_core": DECOMPOSED_CORE}


def run_both(tmp_path, case, way, **entries):
    """Runs a case with tailrace and without, in folders of one name. Returns the two."""
    plain, carried = tmp_path / "plain/case", tmp_path / "carried/case"
    cases.prepare(case, plain, way.ranks, **dict(way.entries), **entries)
    shutil.copytree(plain, carried)
    cases.must(cases.solve(case, way.ranks), plain)
    cases.must(cases.solve(case, way.ranks), carried, carried_by(way.place, way.budget))
    assert "I/O    : tailrace" in cases.log_of(carried)
    return plain, carried


def assert_equal(plain, carried):
    expected, found = cases.files(plain), cases.files(carried)
    assert sorted(found) == sorted(expected)
    assert [name for name in expected if expected[name] != found[name]] == []


# Each case in two ways or more, and each way with a case or more; all of them in make test-slow.
QUICK = {("pitzDaily", "ascii"), ("pitzDaily", "binary"), ("pitzDaily", "decomposed"), ("obliqueShock", "ascii"),
         ("obliqueShock", "decomposed_core"), ("movingCone", "ascii"), ("movingCone", "compressed"),
         ("parcelInBox", "ascii"), ("parcelInBox", "decomposed")}
ALL = [pytest.param(case, way, marks=[] if (case, way) in QUICK else pytest.mark.slow)
       for case in cases.ALL for way in WAYS]


@pytest.mark.parametrize(("case", "way"), ALL)
def test_files_are_equal(tmp_path, runtime_directory, case, way):
    plain, carried = run_both(tmp_path, cases.ALL[case], WAYS[way])
    folder = carried / "processor1" if WAYS[way].ranks > 1 else carried
    assert len(cases.times(folder)) >= 3
    assert_equal(plain, carried)
    assert "tailrace: output beside the computing" in cases.log_of(carried)


@pytest.mark.parametrize("checking", ["timeStamp", "timeStampMaster"])
def test_every_way_to_check_for_changed_files(tmp_path, checking):
    """Debian's OpenFOAM is built without inotify, the other way."""
    plain, carried = tmp_path / "plain/case", tmp_path / "carried/case"
    cases.prepare(cases.OBLIQUE_SHOCK, plain, 2, runTimeModifiable="true")
    with (plain / "system/controlDict").open("a") as control:
        control.write(f"OptimisationSwitches {{ fileModificationChecking {checking}; fileModificationSkew 0; }}\n")
    shutil.copytree(plain, carried)
    cases.must(cases.solve(cases.OBLIQUE_SHOCK, 2), plain)
    cases.must(cases.solve(cases.OBLIQUE_SHOCK, 2), carried, carried_by())
    assert_equal(plain, carried)
    assert "Re-reading" not in cases.log_of(carried)


@pytest.mark.parametrize("entries", [{"purgeWrite": "2"}, {"stopAt": "writeNow"}, {"stopAt": "nextWrite"}],
                         ids=["purgeWrite", "writeNow", "nextWrite"])
def test_what_removes_times_and_what_stops(tmp_path, entries):
    assert_equal(*run_both(tmp_path, cases.OBLIQUE_SHOCK, ASCII, **entries))


def test_function_objects(tmp_path):
    plain, carried = tmp_path / "plain/case", tmp_path / "carried/case"
    cases.prepare(cases.OBLIQUE_SHOCK, plain)
    with (plain / "system/controlDict").open("a") as control:
        control.write("""
functions
{
    probes { type probes; libs (sampling); fields (p U); probeLocations ((1 0.5 0.05)); }
    mean { type fieldAverage; libs (fieldFunctionObjects); writeControl writeTime;
           fields (U { mean on; prime2Mean on; base time; }); }
    magnitude { type mag; libs (fieldFunctionObjects); field U; writeControl writeTime; }
    surface { type surfaces; libs (sampling); writeControl writeTime; fields (p); surfaceFormat vtk;
              surfaces (cut { type plane; planeType pointAndNormal;
                              pointAndNormalDict { point (1 0.5 0.05); normal (0 1 0); } }); }
}
""")
    shutil.copytree(plain, carried)
    cases.must(cases.solve(cases.OBLIQUE_SHOCK), plain)
    cases.must(cases.solve(cases.OBLIQUE_SHOCK), carried, carried_by())
    assert (carried / "0.06/UMean").is_file() and (carried / "postProcessing/probes/0/p").is_file()
    assert_equal(plain, carried)


def test_a_restart_from_the_middle(tmp_path):
    plain, carried = run_both(tmp_path, cases.PITZ_DAILY, ASCII)
    for folder, more in ((plain, {}), (carried, carried_by())):
        shutil.rmtree(cases.times(folder)[-1])
        cases.change(folder, startFrom="latestTime", endTime="6e-5")
        cases.must(cases.solve(cases.PITZ_DAILY), folder, more)
        assert len(cases.times(folder)) == 7
    assert_equal(plain, carried)


@pytest.mark.parametrize("program", ["reconstructPar", "foamToVTK", "foamListTimes"])
def test_tools_read_what_was_written(tmp_path, program):
    """With the handler and without; what they write with it is equal, too."""
    plain, carried = run_both(tmp_path, cases.OBLIQUE_SHOCK, DECOMPOSED)
    for folder, more in ((plain, {}), (carried, carried_by())):
        cases.must(["reconstructPar"], folder, more)
        cases.must([program], folder, more)
    cases.must([program], carried)
    assert_equal(plain, carried)


def test_tools_write_the_same(tmp_path):
    """Tools that make the mesh, and change it and the case."""
    plain, carried = tmp_path / "plain/case", tmp_path / "carried/case"
    shutil.copytree(cases.TUTORIALS / cases.PITZ_DAILY.tutorial, plain)
    shutil.copytree(plain, carried)
    for words in (["blockMesh"], ["renumberMesh", "-overwrite"], ["postProcess", "-func", "writeCellCentres"],
                  ["checkMesh", "-writeAllFields"]):
        cases.must(words, plain)
        cases.must(words, carried, carried_by())
    assert (carried / "0/C").is_file()
    assert_equal(plain, carried)


def test_a_cpu_for_the_writer(tmp_path):
    last = max(os.sched_getaffinity(0))
    folder = tmp_path / "in/case"
    cases.prepare(cases.OBLIQUE_SHOCK, folder)
    cases.must(cases.solve(cases.OBLIQUE_SHOCK), folder,
               run_command.openfoam_variables(None, "thread", None, {}, cpus=str(last)))
    assert len(cases.times(folder)) == 4
    with pytest.raises(ValueError, match="found --cpus one, expected numbers"):
        run_command.openfoam_variables(None, "thread", None, {}, cpus="one")


def test_chosen_by_the_control_dictionary(tmp_path):
    plain, carried = tmp_path / "plain/case", tmp_path / "carried/case"
    cases.prepare(cases.OBLIQUE_SHOCK, plain)
    shutil.copytree(plain, carried)
    library = run_command.OPENFOAM / "libtailraceFoam.so"
    with (carried / "system/controlDict").open("a") as control:
        control.write(f'libs ("{library}");\n'
                      "OptimisationSwitches { fileHandler tailrace; }\n")
    cases.must(cases.solve(cases.OBLIQUE_SHOCK), plain)
    cases.must(cases.solve(cases.OBLIQUE_SHOCK), carried, {"TAILRACE_OPENFOAM": "summary"})
    assert "tailrace: output beside the computing" in cases.log_of(carried)
    shutil.copy(plain / "system/controlDict", carried / "system/controlDict")
    assert_equal(plain, carried)


def test_through_a_forwarder(tmp_path, runtime_directory):
    key = tmp_path / "key"
    assert cli.main(["key", "new", str(key)]) == 0
    forwarder = world.Daemon(tmp_path, tmp_path, key, 0)
    with contextlib.ExitStack() as stack:
        stack.callback(forwarder.kill)
        plain, carried = tmp_path / "plain/case", tmp_path / "carried/case"
        cases.prepare(cases.PITZ_DAILY, plain, writeFormat="binary")
        shutil.copytree(plain, carried)
        cases.must(cases.solve(cases.PITZ_DAILY), plain)
        cases.must(cases.solve(cases.PITZ_DAILY), carried,
                   carried_by(forward=[forwarder.address], key=key))
    for own in carried.glob(".tailrace-*"):  # locks and logs, where a forwarder may write
        shutil.rmtree(own)
    assert_equal(plain, carried)


_SLOW_DISK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

static ssize_t slowly(const char* name, int file, const struct iovec* parts, int count, off_t offset) {
  usleep(10000);
  ssize_t (*next)(int, const struct iovec*, int, off_t) = dlsym(RTLD_NEXT, name);
  return next(file, parts, count, offset);
}

ssize_t pwritev(int file, const struct iovec* parts, int count, off_t offset) {
  return slowly("pwritev", file, parts, count, offset);
}
ssize_t pwritev64(int file, const struct iovec* parts, int count, off_t offset) {
  return slowly("pwritev64", file, parts, count, offset);
}
"""


def test_a_slow_disk_with_purge_write(tmp_path):
    """Each write takes 10 ms more, so that the times which purgeWrite removes are still on their way."""
    plain, carried = tmp_path / "plain/case", tmp_path / "carried/case"
    cases.prepare(cases.PITZ_DAILY, plain, purgeWrite="2", endTime="6e-5")
    shutil.copytree(plain, carried)
    cases.must(cases.solve(cases.PITZ_DAILY), plain)
    (tmp_path / "slow.c").write_text(_SLOW_DISK)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "slow.so", tmp_path / "slow.c", "-ldl"],
                   check=True)
    (tmp_path / "slow.yaml").write_text("tailrace: 1\nname: slow\n"
                                        "storage: {backend: posix}\nmemory: {budget: 4 MiB}\n")
    variables = carried_by()
    variables["LD_PRELOAD"] = f"{tmp_path / 'slow.so'}:{variables['LD_PRELOAD']}"
    variables["TAILRACE_OPENFOAM"] = f"config={tmp_path / 'slow.yaml'} budget=1048576 summary"
    cases.must(cases.solve(cases.PITZ_DAILY), carried, variables)
    assert [time.name for time in cases.times(carried)] == [time.name for time in cases.times(plain)]
    assert_equal(plain, carried)
    waited = re.search(r"The program waited ([0-9.]+) s\.", cases.log_of(carried))
    assert "writes its data itself" not in cases.log_of(carried)
    assert float(waited[1]) > 0.3, "the disk was not slow"
