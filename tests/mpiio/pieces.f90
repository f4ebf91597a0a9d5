! Each process writes pieces of a file, in turn with those of the others.
program pieces
  use mpi_f08
  implicit none
  integer :: rank, ranks, i, n
  type(MPI_File) :: file
  type(MPI_Datatype) :: vector, filetype
  type(MPI_Status) :: status
  integer(kind=MPI_OFFSET_KIND) :: displacement
  double precision :: values(200)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  values = [(rank * 1000d0 + i, i = 1, 200)]
  call MPI_File_open(MPI_COMM_WORLD, 'pieces.out', MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file)
  call MPI_Type_vector(10, 10, 10 * ranks, MPI_DOUBLE_PRECISION, vector)
  call MPI_Type_create_resized(vector, 0_MPI_ADDRESS_KIND, 800_MPI_ADDRESS_KIND * ranks, filetype)
  call MPI_Type_commit(filetype)
  displacement = rank * 80
  call MPI_File_set_view(file, displacement, MPI_DOUBLE_PRECISION, filetype, 'native', MPI_INFO_NULL)
  call MPI_File_write_all(file, values, 100, MPI_DOUBLE_PRECISION, status)
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n)
  if (n /= 100) error stop 'a status has another count'
  call MPI_File_write_all(file, values(101), 100, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
  call MPI_File_close(file)
  call MPI_Finalize()
end program pieces
