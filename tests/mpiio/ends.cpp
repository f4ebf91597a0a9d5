// Writes three files, and ends without MPI_Finalize: mpiio_ends FILE END. FILE.closed is closed, FILE.flushed synced,
// and FILE.written neither; each has 8 MiB of a byte. END is how it ends. tests/python/ends/test_ends.py looks at the
// files.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

void end(const std::string& how) {
  if (how == "exit") std::exit(0);
  if (how == "quick_exit") std::quick_exit(0);
  if (how == "_exit") _exit(0);
  if (how == "abort") std::abort();
  if (how == "exec") execl("/bin/true", "true", nullptr);
  if (how == "MPI_Abort") MPI_Abort(MPI_COMM_WORLD, 0);
  raise(how == "SIGTERM" ? SIGTERM : SIGKILL);
  for (;;) pause();  // until the signal has ended it
}

MPI_File write(const std::string& path) {
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  const std::vector<char> bytes(1 << 20, 'k');
  for (int i = 0; i < 8; ++i) MPI_File_write(file, bytes.data(), 1 << 20, MPI_CHAR, MPI_STATUS_IGNORE);
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string path = argv[1];
  MPI_Init(&argc, &argv);
  MPI_File closed = write(path + ".closed");
  MPI_File_close(&closed);
  MPI_File_sync(write(path + ".flushed"));
  write(path + ".written");
  if (std::string(argv[2]) == "return") return 0;
  end(argv[2]);
}
