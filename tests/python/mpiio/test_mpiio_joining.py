"""Programs that others join (MPI_Comm_spawn, MPI_Comm_accept) while their MPI-IO data is on its way."""

import subprocess

import pytest
from test_mpiio import mpi, start  # noqa: F401

# The first process writes FILE and tells the other one, which runs on another node, and reads the file. It joins by
# the way that the second argument names.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { kBytes = 64 << 20 };
static void meet(char** words, MPI_Comm* other) {
  char* child[] = {words[3], words[0], words[1], words[2], words[3], NULL};
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm_get_parent(other);
  const int is_child = *other != MPI_COMM_NULL;
  if (!is_child) MPI_Comm_spawn("env", child, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, other, MPI_ERRCODES_IGNORE);
  if (strcmp(words[2], "spawn") == 0) return;
  MPI_Comm spawned = *other;
  if (is_child) {
    MPI_Recv(port, sizeof port, MPI_CHAR, 0, 0, spawned, MPI_STATUS_IGNORE);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, other);
  } else {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Send(port, sizeof port, MPI_CHAR, 0, 0, spawned);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, other);
  }
  MPI_Comm_disconnect(&spawned);
}
int main(int argc, char** argv) {
  MPI_Comm parent, other;
  MPI_File file;
  char* data = malloc(kBytes);
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  meet(argv, &other);
  MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (parent == MPI_COMM_NULL) {
    memset(data, 'a', kBytes);
    MPI_File_write_at(file, 0, data, kBytes, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 0, other);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, other, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, other, MPI_STATUS_IGNORE);
    memset(data, 0, kBytes);
    MPI_File_read_at(file, 0, data, kBytes, MPI_BYTE, MPI_STATUS_IGNORE);
    size_t wrong = 0;
    for (size_t i = 0; i < kBytes; ++i) wrong += data[i] != 'a';
    printf("read %zu wrong bytes\n", wrong);
    fflush(stdout);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 0, other);
  }
  MPI_File_close(&file);
  MPI_Comm_disconnect(&other);
  return MPI_Finalize();
}
"""


# The writer's storage takes minutes for these bytes, unless somebody waits for them.
@pytest.mark.parametrize("way", ["spawn", "connect"])
def test_who_joins_finds_what_was_written_before(tmp_path, mpi, way):  # noqa: F811
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run([mpi.cc, "-w", tmp_path / "program.c", "-o", tmp_path / "program"], check=True)
    (tmp_path / "slow.yaml").write_text("tailrace: 1\nname: slow\nstorage: {path: ., throttle: 1 MiB/s}\n")
    words = [tmp_path / "program", tmp_path / "file", way, f"TAILRACE_RUNTIME_DIR={tmp_path}/other_node"]
    if "Error in spawn call" in start(mpi, 1, words).stderr:
        pytest.skip(f"this {mpi.name} cannot spawn processes")
    (tmp_path / "file").unlink()
    done = start(mpi, 1, words, f"config={tmp_path}/slow.yaml")
    assert done.stdout == "read 0 wrong bytes\n", done.stdout + done.stderr
    assert done.returncode == 0 and "could not be opened" not in done.stderr, done.stderr
