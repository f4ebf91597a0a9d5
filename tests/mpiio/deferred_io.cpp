// A collective write to a file that the MPI need not open in all processes: mpiio_deferred_io FILE.
//
// With the hint `romio_no_indep_rw`, ROMIO opens it only in those that access it for others.
#include <mpi.h>

int main(int count, char** words) {
  if (count != 2) return 2;
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Info hints = MPI_INFO_NULL;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "romio_no_indep_rw", "true");
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_WORLD, words[1], MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file);
  MPI_Info_free(&hints);
  const int value = rank + 1;
  MPI_File_write_at_all(file, MPI_Offset{4} * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
}
