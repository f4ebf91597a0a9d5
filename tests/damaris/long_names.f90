! A Fortran program whose names have 300 letters: none is cut.
program long_names
  use, intrinsic :: iso_c_binding
  use mpi
  use damaris
  implicit none
  integer, parameter :: long = 300
  integer :: code, is_client, length, failures
  integer(c_int64_t) :: position(1)
  double precision :: values(4)
  double precision, pointer :: memory(:)
  character(len=2000) :: file
  character(len=long) :: variable, parameter_name, event

  failures = 0
  variable = repeat("v", long)
  parameter_name = repeat("p", long)
  event = repeat("e", long)
  position = 0
  values = [1, 2, 3, 4]
  call MPI_Init(code)
  call get_command_argument(1, file)
  call damaris_initialize_f(file, MPI_COMM_WORLD, code)
  call expect(code, 0)
  call damaris_start_f(is_client, code)
  if (is_client > 0) then
    call damaris_parameter_get_f(parameter_name, length, 4, code)
    call expect(length, 3)
    call damaris_parameter_set_f(parameter_name, 4, 4, code)
    call expect(code, 0)
    call damaris_set_position_f(variable, position, code)
    call expect(code, 0)
    call damaris_set_block_position_f(variable, 0, position, code)
    call expect(code, 0)
    call damaris_write_f(variable, values, code)
    call expect(code, 0)
    call damaris_write_block_f(variable, 0, values, code)
    call expect(code, 0)
    call damaris_signal_f(event, code)
    call expect(code, 0)
    call damaris_end_iteration_f(code)
    call take(damaris_alloc_f(variable, code))
    call damaris_commit_f(variable, code)
    call expect(code, 0)
    call damaris_clear_f(variable, code)
    call expect(code, 0)
    call damaris_end_iteration_f(code)
    call take(damaris_alloc_block_f(variable, 0, code))
    call damaris_commit_block_f(variable, 0, code)
    call expect(code, 0)
    call damaris_clear_block_f(variable, 0, code)
    call expect(code, 0)
    call damaris_end_iteration_f(code)
    call take(damaris_alloc_f(variable, code))
    call damaris_commit_iteration_f(variable, 3, code)
    call expect(code, 0)
    call damaris_clear_iteration_f(variable, 3, code)
    call expect(code, 0)
    call damaris_end_iteration_f(code)
    call take(damaris_alloc_f(variable, code))
    call damaris_commit_block_iteration_f(variable, 0, 4, code)
    call expect(code, 0)
    call damaris_clear_block_iteration_f(variable, 0, 4, code)
    call expect(code, 0)
    call damaris_end_iteration_f(code)
    call damaris_stop_f(code)
    call expect(code, 0)
  end if
  call damaris_finalize_f(code)
  call expect(code, 0)
  call MPI_Finalize(code)
  if (failures > 0) stop 1

contains

  subroutine take(address)
    type(c_ptr), intent(in) :: address
    call expect(code, 0)
    call c_f_pointer(address, memory, [4])
    memory = values
  end subroutine take

  subroutine expect(found, expected)
    integer, intent(in) :: found, expected
    if (found == expected) return
    print *, "found", found, "expected", expected
    failures = failures + 1
  end subroutine expect
end program long_names
