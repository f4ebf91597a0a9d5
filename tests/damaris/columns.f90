! A Fortran program: each client has columns of a matrix, by write and by alloc.
program columns
  use, intrinsic :: iso_c_binding
  use mpi
  use damaris
  implicit none
  integer :: code, is_client, comm, rank, clients, width, step, i, j, failures
  integer(c_int64_t) :: position(2)
  real, allocatable :: values(:, :)
  real, pointer :: memory(:, :)
  type(c_ptr) :: address
  character(len=256) :: file

  failures = 0
  call MPI_Init(code)
  call get_command_argument(1, file)
  call damaris_initialize_f(file, MPI_COMM_WORLD, code)
  call expect(code, 0)
  call damaris_start_f(is_client, code)
  call expect(code, 0)
  if (is_client > 0) then
    call damaris_client_comm_get_f(comm, code)
    call MPI_Comm_rank(comm, rank, code)
    call MPI_Comm_size(comm, clients, code)
    call damaris_parameter_set_f("clients", clients, 4, code)
    call expect(code, 0)
    call damaris_parameter_get_f("width", width, 4, code)
    call expect(width, 6)
    allocate (values(4, width / clients))
    position = [int(rank * (width / clients), c_int64_t), 0_c_int64_t]  ! in C order
    call damaris_set_position_f("u", position, code)
    call damaris_set_position_f("group/v  ", position, code)
    do step = 0, 1
      do j = 1, width / clients
        do i = 1, 4
          values(i, j) = 100 * step + 4 * (rank * (width / clients) + j - 1) + i - 1
        end do
      end do
      call damaris_write_f("u", values, code)
      call expect(code, 0)
      address = damaris_alloc_f("group/v", code)
      call expect(code, 0)
      call c_f_pointer(address, memory, [4, width / clients])
      memory = -values
      call damaris_commit_f("group/v", code)
      call expect(code, 0)
      call damaris_clear_f("group/v", code)
      call expect(code, 0)
      call damaris_end_iteration_f(code)
      call expect(code, 0)
    end do
    code = -1
    call damaris_has_plugin_f(1, code)
    call expect(code, 0)
    call damaris_get_iteration_f(step, code)
    call expect(step, 2)
    call damaris_stop_f(code)
    call expect(code, 0)
  end if
  call damaris_finalize_f(code)
  call expect(code, 0)
  call MPI_Finalize(code)
  if (failures > 0) stop 1

contains

  subroutine expect(found, expected)
    integer, intent(in) :: found, expected
    if (found == expected) return
    print *, "found", found, "expected", expected
    failures = failures + 1
  end subroutine expect
end program columns
