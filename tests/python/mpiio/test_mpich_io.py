"""MPICH's own tests of MPI-IO, under each MPI of this machine: with the preloaded library, they end as without
it: in place thread, and the suite `io` under MPICH in place core, too. tools/build_mpich_tests.sh builds them."""

import dataclasses
import os
import pathlib
import subprocess

import pytest
from tailrace.cli import run as run_command

REPOSITORY = pathlib.Path(__file__).parents[3]
TESTS = REPOSITORY / ".deps/mpich-tests"
C_SUITES = ("io", "errors", "romio")
FORTRAN_SUITES = ("f77", "f90", "f08")
PLACES = {"thread": "summary", "core": "place=core summary"}
SECONDS = 60  # for one run; the slowest takes a few on a busy machine
HANGS = 124  # the exit code of timeout(1)

# The most ranks. MPICH's ranks that wait for each other keep a core busy each, so where there are few cores,
# or others need them, the listed ranks take ten times as long, and much longer in Fortran, whose programs send more.
# `make test-slow` runs all with more ranks and in both places; and f90, as `use mpi` calls the functions that f77 has
# tested; and f77 under MPICH, where f08 calls the same functions of C.
RANKS = {"quick": {"C": 2, "Fortran": 1}, "slow": {"C": 4, "Fortran": 2}}

# Tests that end differently with the library, by MPI and program; and why.
EXCEPTIONS: dict[tuple[str, str], str] = {}

# Tests that are not run.
LEFT_OUT = {
    **{("openmpi", name): "it fails without the library, now and then: Open MPI's atomic accesses are not"
       for name in ("romio/atomicity", "f77/atomicityf", "f90/atomicityf90", "f08/atomicityf90")},
}


@dataclasses.dataclass(frozen=True)
class Program:
    """A line of a test list."""

    name: str  # with its suite
    ranks: int
    arguments: tuple[str, ...]
    more: bool = False  # `make test-slow` runs it with more ranks

    def path(self, mpi):
        return TESTS / mpi.name / self.name


def listed(suite):
    """Returns the programs of a suite, with the listed ranks, without those that need gigabytes of memory."""
    for line in (TESTS / suite / "testlist").read_text().splitlines():
        name, ranks, *more = line.split()
        if not any(word.startswith("mem=") for word in more):
            arguments = [word[4:].replace("$srcdir", str(TESTS / suite)) for word in more if word.startswith("arg=")]
            yield Program(f"{suite}/{name}", int(ranks), tuple(arguments))


def programs():
    """Returns the tests as parameters."""
    found = []
    for suite in C_SUITES + FORTRAN_SUITES if any(TESTS.glob("complete-*")) else ():
        language = "C" if suite in C_SUITES else "Fortran"
        for program in listed(suite):
            quick, slow = (min(program.ranks, RANKS[kind][language]) for kind in ("quick", "slow"))
            if suite != "f90":
                found.append(pytest.param(dataclasses.replace(program, ranks=quick, more=slow > quick),
                                          id=program.name))
            if suite == "f90" or slow > quick:
                found.append(pytest.param(dataclasses.replace(program, ranks=slow), id=f"{program.name}-{slow}",
                                          marks=pytest.mark.slow))
    return found or [pytest.param(None, id="none")]


@dataclasses.dataclass(frozen=True)
class End:
    """How a program has ended: what must be equal, and what it has said."""

    code: int
    verdict: tuple[bool, int]
    said: str = dataclasses.field(compare=False)


def end(mpi, program, directory, settings=None):
    """Runs the program in a new directory."""
    directory.mkdir()
    environment = dict(os.environ)
    if settings is not None:
        environment |= {"LD_PRELOAD": str(library(mpi)), "TAILRACE_MPIIO": settings}
    environment["OMPI_MCA_sharedfp"] = "^sm"  # Debian's Open MPI 4.1.4 cannot open files with it, as root
    environment["OMPI_MCA_mpi_yield_when_idle"] = "1"  # else it does so only if there are fewer cores than ranks
    # The timeout of subprocess would leave the ranks running.
    words = ["timeout", "--kill-after=5", str(SECONDS), *mpi.start(program.ranks, program.path(mpi),
                                                                   *program.arguments)]
    done = subprocess.run(words, cwd=directory, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", check=False)
    verdict = ("No Errors" in done.stdout, done.stdout.count(": OK"))  # big_extents says OK several times
    return End(done.returncode, verdict, f"exit code {done.returncode}\n{done.stdout[:2000]}{done.stderr[:2000]}")


def library(mpi):
    return run_command.PRELOADED / f"libtailrace_mpiio_{mpi.name}.so"


def is_slow(request):
    return request.node.get_closest_marker("slow") is not None


def has_turn(mpi, program):
    """Returns False for one of the two MPIs, if `make test-slow` runs the program with both."""
    return not program.more or (sum(program.name.encode()) % 2 == 0) == (mpi.name == "mpich")


@pytest.mark.parametrize("program", programs())
def test_a_program_of_mpich_ends_as_without_the_library(tmp_path, mpi, program, runtime_directory, request):
    if program is None or not (TESTS / mpi.name).is_dir():
        pytest.skip(f".deps/mpich-tests has no tests for {mpi.name}: tools/build_mpich_tests.sh builds them")
    if not library(mpi).is_file():
        pytest.skip(f"there is no {library(mpi).name}")
    if program.name in (TESTS / mpi.name / "not-built").read_text().split():
        pytest.skip(f"{mpi.name} cannot compile {program.name}")
    later = (mpi.name == "mpich" and program.name.startswith("f77/")) or not has_turn(mpi, program)
    if later and not is_slow(request):
        pytest.skip("make test-slow runs it")
    if (mpi.name, program.name) in LEFT_OUT:
        pytest.skip(f"{program.name}: {LEFT_OUT[mpi.name, program.name]}")
    plain = end(mpi, program, tmp_path / "plain")
    if plain.code == HANGS:
        pytest.skip(f"{program.name} hangs under {mpi.name} without the library, too")
    differing = {}
    in_core = is_slow(request) or (mpi.name == "mpich" and program.name.startswith("io/"))
    places = PLACES if in_core else {"thread": PLACES["thread"]}
    for place, settings in places.items():
        carried = end(mpi, program, tmp_path / place, settings)
        assert "cannot be preloaded" not in carried.said
        if carried != plain:
            differing[place] = carried
    told = "\n".join(f"{place}: {carried.said}" for place, carried in {"plain": plain, **differing}.items())
    if (mpi.name, program.name) in EXCEPTIONS:
        assert list(differing) == list(places), f"{program.name} is no exception any more"
    else:
        assert not differing, told
