// A job that dies, and the one behind it. `mpiio_follow FILE BYTES die` writes BYTES bytes 'k', and kills itself.
// `mpiio_follow FILE BYTES` reads them, writes over the first ones, appends one byte, and returns 0 if all of them
// were there: 1 if the read, 3 if the position for appending found fewer.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void write_and_die(const char* path, int bytes) {
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  const std::vector<char> all(static_cast<size_t>(bytes), 'k');
  MPI_File_write(file, all.data(), bytes, MPI_CHAR, MPI_STATUS_IGNORE);
  raise(SIGKILL);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* const path = argv[1];
  const int bytes = std::atoi(argv[2]);
  MPI_Init(&argc, &argv);
  if (argc == 4) write_and_die(path, bytes);
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  std::vector<char> found(static_cast<size_t>(bytes), '-');
  MPI_File_read(file, found.data(), bytes, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &file);
  MPI_Offset end = 0;
  MPI_File_get_position(file, &end);
  MPI_File_write(file, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_write_at(file, 0, "new", 3, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  const auto right = std::count(found.begin(), found.end(), 'k');
  std::fprintf(stderr, "read %ld right bytes of %d; appended at %lld\n", static_cast<long>(right), bytes,
               static_cast<long long>(end));
  if (right != bytes) return 1;
  return end == bytes ? 0 : 3;
}
