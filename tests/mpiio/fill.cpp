// Writes more than a disk holds, by MPI-IO: mpiio_fill FILE MEBIBYTES; with -1, at a wrong place, and a wrong number.
// Prints for each call that failed its name and the class of the error.
#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void tell(int error, const char* call) {
  if (error == MPI_SUCCESS) return;
  int of = MPI_SUCCESS;
  MPI_Error_class(error, &of);
  const char* const name = of == MPI_ERR_NO_SPACE ? "MPI_ERR_NO_SPACE" : of == MPI_ERR_IO ? "MPI_ERR_IO" : "another";
  std::printf("%s: %s\n", call, name);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) return 2;
  const std::vector<char> data(1 << 20, 'x');
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) !=
      MPI_SUCCESS) {
    return 1;
  }
  for (MPI_Offset i = 0; i < std::atoi(argv[2]); ++i) {
    MPI_Request request;
    tell(MPI_File_iwrite_at_all(file, i << 20, data.data(), 1 << 20, MPI_BYTE, &request), "iwrite_at_all");
    tell(MPI_Wait(&request, MPI_STATUS_IGNORE), "wait");
  }
  if (std::atoi(argv[2]) < 0) {
    tell(MPI_File_write_at(file, -1, data.data(), 1, MPI_BYTE, MPI_STATUS_IGNORE), "write_at");
    tell(MPI_File_write(file, data.data(), -1, MPI_BYTE, MPI_STATUS_IGNORE), "write");
  }
  tell(MPI_File_sync(file), "sync");
  tell(MPI_File_close(&file), "close");
  MPI_Finalize();
  return 0;
}
