"""MPI-IO of unchanged programs, carried by the preloaded library, under each MPI of this machine."""

import os
import pathlib
import random
import re
import shutil
import struct
import subprocess

import numpy as np
import pytest

from tailrace import cli, mpis
from tailrace.cli import run as run_command

REPOSITORY = pathlib.Path(__file__).parents[3]
BUILD = REPOSITORY / "build/release"


@pytest.fixture(params=mpis.NAMES)
def mpi(request):
    found = [one for one in mpis.find().mpis if one.name == request.param]
    if not found or not program(found[0]).is_file() or not library(found[0]).is_file():
        pytest.skip(f"{request.param} is not here, or the programs for it are not built")
    return found[0]


def program(mpi, name="random_io"):
    return BUILD / f"tests/mpiio/mpiio_{name}_{mpi.name}"


def library(mpi):
    return run_command.PRELOADED / f"libtailrace_mpiio_{mpi.name}.so"


def start(mpi, ranks, words, settings=None, node_size=None):
    """`node_size`: that many processes count as a node."""
    environment = dict(os.environ)
    if node_size is not None:
        environment["TAILRACE_MPIIO_NODE_SIZE"] = str(node_size)
    if settings is not None:
        environment |= {"LD_PRELOAD": str(library(mpi)), "TAILRACE_MPIIO": settings}
    environment["OMPI_MCA_sharedfp"] = "^sm"  # Debian's Open MPI 4.1.4 cannot open files with it, as root
    environment["OMPI_MCA_fbtl_posix_write_datasieving"] = "0"  # it loses bytes that other processes write meanwhile
    return subprocess.run(mpi.start(ranks, *words), env=environment, capture_output=True, text=True, timeout=600,
                          check=False)


def one_seed():
    return random.randrange(1 << 30)


def run_random_program(tmp_path, mpi, ranks, seed, settings, words=None, node_size=None, more=()):
    """Runs it with tailrace and without: what it reads, and its files, are equal. Returns what tailrace printed.
    `words`: how to start it with tailrace, if not by its name; `more`: arguments of it."""
    print("seed", seed)
    plain, carried = tmp_path / f"plain{seed}", tmp_path / f"carried{seed}"
    without = start(mpi, ranks, [program(mpi), plain, seed, *more])
    assert without.returncode == 0, without.stderr
    done = start(mpi, ranks, [*(words or [program(mpi)]), carried, seed, *more], settings, node_size)
    assert done.returncode == 0, done.stderr
    assert done.stdout == without.stdout and "read " in done.stdout  # a hash of all that it has read
    for file in ("", ".other"):
        assert pathlib.Path(f"{plain}{file}").read_bytes() == pathlib.Path(f"{carried}{file}").read_bytes()
    return done.stderr


@pytest.mark.parametrize("settings", ["summary", "place=core summary"], ids=["thread", "core"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_random_programs_write_equal_files(tmp_path, mpi, ranks, settings, runtime_directory):
    printed = run_random_program(tmp_path, mpi, ranks, one_seed(), settings)
    assert len(re.findall("writes? of MPI-IO data", printed)) == ranks, printed


@pytest.fixture
def runtime_directories(tmp_path, monkeypatch):
    """Those of several nodes; returns the beginning of their names."""
    monkeypatch.setenv("TAILRACE_RUNTIME_DIR", str(tmp_path / "run"))
    return "run.node-"


# Then small pieces are exchanged, with MPI_THREAD_MULTIPLE also in the background.
@pytest.mark.parametrize("more", [(), ("threads",)], ids=["single", "multiple"])
@pytest.mark.parametrize("place", ["thread", "core"])
def test_random_programs_write_equal_files_on_several_nodes(tmp_path, mpi, place, more, runtime_directories):
    run_random_program(tmp_path, mpi, 2, one_seed() & ~1, f"place={place}", node_size=1, more=more)


WRITES_WITHOUT_CALLS = r"""
#include <mpi.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
/* Two processes write pieces of 8 bytes in turn, by one nonblocking collective call, and then look at the file until
   it has all pieces of both. */
int main(int argc, char** argv) {
  enum { kPieces = 20000, kPiece = 8 };
  static char mine[kPieces * kPiece], all[2 * kPieces * kPiece];
  int rank, provided;
  const int level = strcmp(argv[2], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  memset(mine, 'a' + rank, sizeof mine);
  MPI_Datatype pieces;
  MPI_Type_vector(kPieces, kPiece, 2 * kPiece, MPI_BYTE, &pieces);
  MPI_Type_commit(&pieces);
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file)) return 1;
  if (MPI_File_set_view(file, rank * kPiece, MPI_BYTE, pieces, "native", MPI_INFO_NULL)) return 1;
  MPI_Request request;
  if (MPI_File_iwrite_at_all(file, 0, mine, sizeof mine, MPI_BYTE, &request)) return 1;
  const int own = open(argv[1], O_RDONLY);
  for (int tries = 0;; ++tries) {
    size_t right = 0;
    const ssize_t size = pread(own, all, sizeof all, 0);
    for (size_t i = 0; i < sizeof all; ++i) right += all[i] == (i / kPiece % 2 ? 'b' : 'a');
    if (size == sizeof all && right == sizeof all) break;
    if (tries == 30000) return 2;
    const struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
  }
  if (MPI_Wait(&request, MPI_STATUS_IGNORE) || MPI_File_close(&file)) return 1;
  return MPI_Finalize();
}
"""


@pytest.mark.parametrize("level, node_size", [("single", None), ("multiple", 1)], ids=["one node", "two nodes"])
@pytest.mark.parametrize("place", ["thread", "core"])
def test_a_collective_write_goes_on_without_calls_of_mpi(tmp_path, mpi, place, level, node_size,
                                                         runtime_directories):
    (tmp_path / "program.c").write_text(WRITES_WITHOUT_CALLS)
    subprocess.run([mpi.cc, "-w", tmp_path / "program.c", "-o", tmp_path / "program"], check=True)
    done = start(mpi, 2, [tmp_path / "program", tmp_path / "file", level], f"place={place}", node_size)
    assert done.returncode == 0, done.stderr


def test_processes_with_neighbouring_ranks_may_count_as_a_node(tmp_path, mpi, runtime_directories):
    done = start(mpi, 3, [program(mpi), tmp_path / "file", 2], "place=core", node_size=2)
    assert done.returncode == 0, done.stderr
    tables = {path.name.split(".pending")[0] for path in tmp_path.glob(f"{runtime_directories}*.pending-*")}
    assert tables == {f"{runtime_directories}0", f"{runtime_directories}1"}


# A program with an even seed has no hints. MPICH's processes do not sleep while they wait, so three on two cpus take
# long: they are among the slow tests.
@pytest.mark.parametrize("algorithm", ["two_phase", "dynamic", "static"])
def test_random_programs_write_equal_files_through_aggregators(tmp_path, mpi, algorithm):
    ranks = 2 if mpi.name == "mpich" else 3
    run_random_program(tmp_path, mpi, ranks, one_seed(), f"collective={algorithm} aggregators=2")


def test_a_plugin_with_an_mpi_of_its_own(tmp_path, mpi):
    """The symbols of its MPI are in no global scope (RTLD_LOCAL)."""
    plugin = [BUILD / "tests/mpiio/mpiio_loader", BUILD / f"tests/mpiio/libmpiio_random_plugin_{mpi.name}.so"]
    printed = run_random_program(tmp_path, mpi, 2, one_seed(), "summary", plugin)
    assert len(re.findall("writes? of MPI-IO data", printed)) == 2, printed


@pytest.mark.slow
@pytest.mark.parametrize("settings", ["place=thread", "place=core", "collective=two_phase aggregators=2",
                                      "collective=dynamic aggregators=2", "collective=static aggregators=2"])
def test_many_random_programs_write_equal_files(tmp_path, mpi, settings, runtime_directory):
    first = one_seed()
    for seed in range(first, first + 6):
        run_random_program(tmp_path, mpi, 3, seed, settings)


# Each ends only if every call that waits makes progress of collective writes, and waits for nothing else.
def run_random_progress(tmp_path, mpi, ranks, seed, settings):
    print("seed", seed)
    done = start(mpi, ranks, [program(mpi, "random_progress"), tmp_path / f"file{seed}", seed], settings)
    assert done.returncode == 0 and done.stdout == "ended\n", done.stderr


@pytest.mark.parametrize("ranks", [2, 3])
def test_calls_that_wait_make_progress(tmp_path, mpi, ranks):
    for seed in (one_seed(), one_seed()):
        run_random_progress(tmp_path, mpi, ranks, seed, "collective=two_phase aggregators=2")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["two_phase", "dynamic", "static"])
@pytest.mark.parametrize("place", ["thread", "core"])
def test_many_calls_that_wait_make_progress(tmp_path, mpi, algorithm, place, runtime_directory):
    first = one_seed()
    for seed in range(first, first + 12):
        run_random_progress(tmp_path, mpi, 2 + seed % 3, seed, f"place={place} collective={algorithm} aggregators=2")


# What one process has written is there for another one after a message, without a sync: within a node, and between
# nodes, which here are processes that do not find each other.
def run_order_program(tmp_path, mpi, seed, settings, nodes):
    print("seed", seed)
    words = [program(mpi, "order_io"), tmp_path / f"file{seed}", seed]
    if nodes > 1:
        node = f"{tmp_path}/node$((${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}} % {nodes}))"
        script = f'export TAILRACE_RUNTIME_DIR={node}; exec "$@"'
        words = ["sh", "-c", script, "sh", *words]
    return start(mpi, 3, words, settings)


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("place", ["thread", "core"])
def test_messages_give_an_order(tmp_path, mpi, place, nodes, runtime_directory):
    done = run_order_program(tmp_path, mpi, one_seed(), f"place={place}", nodes)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("settings", ["place=thread", "place=core", "collective=two_phase aggregators=2"])
def test_many_messages_give_an_order(tmp_path, mpi, settings, nodes, runtime_directory):
    first = one_seed()
    for seed in range(first, first + 12):
        done = run_order_program(tmp_path, mpi, seed, settings, nodes)
        assert done.returncode == 0, done.stderr


def test_no_more_order_than_mpi_io_promises_can_be_asked_for(tmp_path, mpi):
    """The program, which relies on more, then fails sooner or later: so these tests can fail."""
    first = one_seed()
    seeds = range(first, first + 60)
    assert any(run_order_program(tmp_path, mpi, seed, "relaxed", 1).returncode != 0 for seed in seeds)


UNCARRIED = r"""
#include <mpi.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
/* Opens FILE in the way that the second argument names, and writes a little. */
int main(int argc, char** argv) {
  int rank, ranks, one = 1, at = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* how = argv[2];
  const int sequential = strcmp(how, "sequential") == 0 ? MPI_MODE_SEQUENTIAL : 0;
  MPI_File file;
  const int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY | sequential;
  struct rlimit limit, all;
  getrlimit(RLIMIT_NOFILE, &all);
  limit = all;
  limit.rlim_cur = dup(0);  /* The next free one, which the MPI takes. */
  close(limit.rlim_cur);
  limit.rlim_cur += 1;
  if (strcmp(how, "descriptors") == 0) setrlimit(RLIMIT_NOFILE, &limit);
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], mode, MPI_INFO_NULL, &file)) return 1;
  setrlimit(RLIMIT_NOFILE, &all);
  MPI_Datatype type = MPI_BYTE;
  const int empty = strcmp(how, "empty") == 0 && rank == ranks - 1 ? 0 : 1;
  if (strcmp(how, "empty") == 0) MPI_Type_create_indexed_block(empty, 1 << 17, &at, MPI_BYTE, &type);
  if (type != MPI_BYTE) MPI_Type_commit(&type);
  const char* representation = strcmp(how, "external") == 0 ? "external32" : "native";
  const MPI_Offset begin = (MPI_Offset)rank << 17;
  if (!sequential && MPI_File_set_view(file, begin, MPI_BYTE, type, representation, MPI_INFO_NULL)) return 1;
  if (strcmp(how, "atomic") == 0) MPI_File_set_atomicity(file, 1);
  static char data[1 << 17];
  memset(data, 'a' + rank, sizeof data);
  if (sequential) {
    MPI_File_write_ordered(file, data, one, MPI_BYTE, MPI_STATUS_IGNORE);
  } else {
    MPI_File_write_all(file, data, empty << 17, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  MPI_File_close(&file);
  return MPI_Finalize();
}
"""


@pytest.fixture
def uncarried(tmp_path, mpi):
    """Compiles that program; runs it in a way, on three ranks, and returns what is said."""
    (tmp_path / "program.c").write_text(UNCARRIED)
    subprocess.run([mpi.cc, "-w", tmp_path / "program.c", "-o", tmp_path / "program"], check=True)

    def run(how, name="file"):
        done = start(mpi, 3, [tmp_path / "program", name, how], "summary")
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stderr

    return run


def test_a_process_whose_view_is_empty_is_carried_with_the_others(tmp_path, uncarried):
    said = uncarried("empty", tmp_path / "file")
    assert said.count("1 write of MPI-IO data") == 2 and "not carried" not in said, said
    assert (tmp_path / "file").read_bytes() == b"a" * (1 << 17) + b"b" * (1 << 17)


@pytest.mark.parametrize("how, why", [("sequential", "MPI_MODE_SEQUENTIAL"), ("atomic", "its accesses are atomic"),
                                      ("external", "its view has another data representation than native"),
                                      ("descriptors", "it could not be opened once more: Too many open files")])
def test_the_summary_names_a_file_that_is_not_carried(tmp_path, mpi, uncarried, how, why):
    if (mpi.name, how) == ("openmpi", "external"):
        pytest.skip("OMPIO does not know external32")
    if (mpi.name, how) == ("openmpi", "descriptors"):
        pytest.skip("OMPIO needs more than one descriptor")
    said = uncarried(how, tmp_path / "file")
    assert said.count(f"tailrace: {tmp_path}/file is not carried: ") == 1 and why in said, said
    assert " of MPI-IO data" not in said


def test_the_summary_names_what_is_no_regular_file(mpi, uncarried):
    if mpi.name == "mpich":
        pytest.skip("ROMIO keeps its shared pointer beside the file")
    assert "/dev/null is not carried: it is not a regular file" in uncarried("plain", "/dev/null")


def test_types_with_large_counts(tmp_path, mpi):
    seed = one_seed()
    print("seed", seed)
    done = start(mpi, 1, [program(mpi, "large_types"), tmp_path / "file", seed], "")
    assert done.returncode == 0 and done.stdout == "", done.stdout + done.stderr


@pytest.mark.parametrize("module", ["mpi_f08", "mpi"])
def test_fortran(tmp_path, monkeypatch, mpi, module):
    compiler = shutil.which(mpi.cc.replace("mpicc", "mpif90"))
    if compiler is None:
        pytest.skip("no Fortran here")
    source = (REPOSITORY / "tests/mpiio/pieces.f90").read_text()
    if module == "mpi":
        source = in_old_style(source)
    (tmp_path / "pieces.f90").write_text(source)
    subprocess.run([compiler, "-w", tmp_path / "pieces.f90", "-o", tmp_path / "pieces"], check=True, cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    done = start(mpi, 3, [tmp_path / "pieces"], "summary")
    assert done.returncode == 0 and re.search("writes? of MPI-IO data", done.stderr), done.stderr
    values = np.fromfile("pieces.out").reshape(20, 3, 10)
    for rank in range(3):
        assert np.array_equal(values[:, rank].ravel(), rank * 1000 + np.arange(1, 201))


def in_old_style(source):
    """The same program with `use mpi`: handles are integers, and the error is the last argument."""
    source = source.replace("use mpi_f08", "use mpi").replace("type(MPI_Status) :: status",
                                                               "integer :: status(MPI_STATUS_SIZE), error")
    source = re.sub(r"type\(MPI_\w+\) ::", "integer ::", source)
    return re.sub(r"(call MPI_\w+\(.*)\)$", r"\1, error)", source, flags=re.MULTILINE).replace("(, error)", "(error)")


def test_a_program_without_mpi_is_not_disturbed(mpi):
    done = start(mpi, 1, ["true"], "")
    assert done.returncode == 0 and done.stderr == ""


def test_wrong_settings_are_told_and_nothing_is_carried(tmp_path, mpi):
    done = start(mpi, 1, [program(mpi, "fill"), tmp_path / "file", 1], "place=moon")
    assert done.returncode == 0 and "found 'place=moon', expected config=FILE" in done.stderr
    done = start(mpi, 1, [program(mpi, "fill"), tmp_path / "file", 1], "collective=three_phase")
    assert done.returncode == 0 and "found 'collective=three_phase', expected" in done.stderr


def test_wrong_arguments_are_refused_by_the_mpi(tmp_path, mpi):
    plain = start(mpi, 1, [program(mpi, "fill"), tmp_path / "plain", -1])
    carried = start(mpi, 1, [program(mpi, "fill"), tmp_path / "carried", -1], "")
    assert carried.returncode == plain.returncode == 0
    assert carried.stdout == plain.stdout != ""


def test_a_full_disk_is_told_once(small_disk, mpi):
    done = start(mpi, 1, [program(mpi, "fill"), small_disk / "file", 4], "")
    assert done.returncode == 0 and "No space left on device" in done.stderr
    told = done.stdout.splitlines()
    assert told and all(line.endswith(": MPI_ERR_NO_SPACE") for line in told), told
    assert told[-1] != "close: MPI_ERR_NO_SPACE", "the sync has told it"


def test_a_program_of_another_mpi_is_told(tmp_path, mpi):
    others = [other for other in mpis.find().mpis if other != mpi and program(other).is_file()]
    if not others:
        pytest.skip("there is only one MPI here")
    environment = {**os.environ, "LD_PRELOAD": str(library(mpi)), "TAILRACE_MPIIO": ""}
    done = subprocess.run([program(others[0]), tmp_path / "file", "1", "1"], env=environment, capture_output=True,
                          text=True, timeout=60, check=False)
    title = {"mpich": "MPICH", "openmpi": "Open MPI"}
    assert done.returncode != 0
    assert f"found a program of {title[others[0].name]}, expected one of {title[mpi.name]}, whose" in done.stderr


@pytest.mark.parametrize(("library", "name"), [("libmpi.so.12", "mpich"), ("libmpi_gnu_123.so.12", "mpich"),
                                               ("libmpich.so.12", "mpich"), ("libmpi.so.40", "openmpi")])
def test_run_finds_the_mpi_by_the_name_of_its_library(tmp_path, monkeypatch, library, name):
    ldd = tmp_path / "ldd"
    ldd.write_text(f"#!/bin/sh\necho '\t{library} => /opt/mpi/lib/{library} (0x00007f0000000000)'\n")
    ldd.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert run_command.mpi_of(["true"]) == (name, "")


def test_run_finds_the_mpi(tmp_path, mpi, capsys):
    assert cli.main(["run", "--mpiio", "--print", "--", mpi.launcher, "-n", "2", "true"]) == 0
    said = capsys.readouterr().out
    assert f"libtailrace_mpiio_{mpi.name}.so" in said and "export TAILRACE_MPIIO=" in said
    assert run_command.mpi_of([str(program(mpi))]) == (mpi.name, "")
    words = ["--collective", "two_phase", "--aggregators", "2", "--print", "--", mpi.launcher]
    assert cli.main(["run", "--mpiio", *words]) == 0
    assert "export TAILRACE_MPIIO='collective=two_phase aggregators=2'" in capsys.readouterr().out
    assert cli.main(["run", "--mpiio", "--relaxed", "--print", "--", mpi.launcher]) == 0
    assert "export TAILRACE_MPIIO=relaxed" in capsys.readouterr().out
    assert cli.main(["run", *words]) == 2
    assert "without --mpiio" in capsys.readouterr().err
    assert cli.main(["run", "--mpiio", "--aggregators", "0", "--print", "--", mpi.launcher]) == 2
    assert "found --aggregators 0, expected at least 1" in capsys.readouterr().err


def test_a_file_that_the_mpi_opens_in_some_processes_only_is_carried(tmp_path, mpi, runtime_directories):
    for node_size in (None, 2):
        done = start(mpi, 4, [program(mpi, "deferred_io"), tmp_path / "file"], "summary", node_size)
        assert done.returncode == 0 and "not carried" not in done.stderr, done.stderr
        assert (tmp_path / "file").read_bytes() == struct.pack("4i", 1, 2, 3, 4)
        assert done.stderr.count("1 write of MPI-IO data") == 4, done.stderr
