"""An MPI-IO job that begins right after one that died, on its file: it finds what the dead one had written, though in
place core the node's server still writes it."""

import os
import pathlib
import subprocess
import time

import numpy as np
import pytest
from tailrace.cli import core_server
from tailrace.cli import run as run_command

REPOSITORY = pathlib.Path(__file__).parents[3]
LIMIT = 600.0  # seconds
BYTES = 8 << 20

pytestmark = pytest.mark.usefixtures("runtime_directory")


SLOW = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
ssize_t pwritev(int file, const struct iovec* pieces, int count, off_t offset) {
  ssize_t (*const real)(int, const struct iovec*, int, off_t) = dlsym(RTLD_NEXT, "pwritev");
  if (strcmp(program_invocation_short_name, "tailrace-core") == 0 && pieces[0].iov_len >= 65536) usleep(1000000);
  return real(file, pieces, count, offset);
}
"""


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """A library with which storage is slow for servers: data are still on their way when the next job begins."""
    library = tmp_path_factory.mktemp("slow") / "slow.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", library, "-ldl"], input=SLOW, text=True, check=True)
    return library


def configuration(directory, place):
    path = directory / f"{place}.yaml"
    path.write_text(f"tailrace: 1\nname: follow\nplace: {{kind: {place}}}\nmemory: {{budget: 64 MiB}}\n"
                    f"storage: {{path: {directory}, backend: posix}}\nlog: {{level: error}}\n")
    return path


def start(command, directory, environment):
    """Runs a program to its end, and returns its exit code and its messages."""
    done = subprocess.run([str(word) for word in command], cwd=directory, env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    return done.returncode, done.stdout + done.stderr


def wait_for_servers():
    deadline = time.monotonic() + LIMIT
    while core_server.jobs():
        assert time.monotonic() < deadline, core_server.jobs()
        time.sleep(0.01)


@pytest.mark.parametrize("then", ["core", "thread"])
def test_mpiio(tmp_path, mpi, slow, then):
    library = run_command.PRELOADED / f"libtailrace_mpiio_{mpi.name}.so"
    if not library.is_file():
        pytest.skip(f"the library for {mpi.name} is not built")

    def environment(place):
        return {"LD_PRELOAD": f"{library}:{slow}", "OMPI_MCA_sharedfp": "^sm",
                "TAILRACE_MPIIO": f"config={configuration(tmp_path, place)}"}

    program = [REPOSITORY / f"build/release/tests/mpiio/mpiio_follow_{mpi.name}", tmp_path / "file", BYTES]
    start([*program, "die"], tmp_path, environment("core"))  # a launcher may be slow to end, too
    assert core_server.jobs(), "nothing is on its way any more: this test shows nothing"
    code, messages = start(mpi.start(1, *program), tmp_path, environment(then))
    assert code == 0, messages
    wait_for_servers()
    found = np.fromfile(tmp_path / "file", "u1")
    right = np.frombuffer(b"new" + b"k" * (BYTES - 3) + b"x", "u1")
    assert len(found) == len(right) and (found == right).all()
