! values CONFIG FIRST: writes the values of tests/python/languages/test_languages.py by the Fortran module, in the
! iterations FIRST and FIRST + 1, and reads them back; before that, those of FIRST - 1,
! which an earlier run has written.
program values
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
  use, intrinsic :: iso_c_binding, only: c_bool
  use, intrinsic :: iso_fortran_env, only: int16, int32, int64, real32, real64
  use tailrace
  implicit none

  ! All values of an iteration.
  type :: iteration_values
    real(real64), allocatable :: t(:), x(:), y(:)
    integer(int64), allocatable :: id(:)
    complex(real64) :: ex(2), ey(2)
    complex(real32) :: narrow(2)
    logical(c_bool) :: flags(3)
    integer(int16) :: half(3)
    real(real64) :: energy
    integer(int32) :: deep(1, 1, 2, 1, 3, 1, 1, 2)
  end type

  type(tailrace_client) :: out
  character(1000) :: config, number
  integer(int64) :: first, last, step
  real(real64) :: time

  call get_command_argument(1, config)
  call get_command_argument(2, number)
  read (number, *) first
  call out%open(trim(config))
  call out%last_iteration(last)
  if (last /= first - 1) error stop "another last iteration"
  call out%last_time(time)
  if (last < 0 .neqv. ieee_is_nan(time)) error stop "a time of no iteration, or none of one"
  if (last >= 0 .and. time /= real(last, real64) * merge(1.5_real64, 0.25_real64, mod(last, 2_int64) == 0)) &
    error stop "another time of the last iteration"
  if (last >= 0) call read_back(last)
  do step = first, first + 1
    call write_all(step)
    call read_back(step)
  end do
  call out%close()

contains

  function values_of(step) result(v)
    integer(int64), intent(in) :: step
    type(iteration_values) :: v
    real(real64) :: at
    integer :: i, n
    at = real(step, real64)
    n = int(mod(3 + 2 * step, 5_int64))
    v%t = [(at + 0.5_real64 * (i - 1), i=1, n)]
    v%x = [(at + (i - 1), i=1, n)]
    v%y = [(0.25_real64 * (i - 1), i=1, n)]
    v%id = [(ibset(1000 * step + i - 1, 63), i=1, n)]
    v%ex = [(cmplx(at + i - 1, i - 1, real64), i=1, 2)]
    v%ey = [(cmplx(-at, i, real64), i=1, 2)]
    v%narrow = [(cmplx(at + 0.5 * (i - 1), 1 - i, real32), i=1, 2)]
    v%flags = [(logical(mod(step + i - 1, 2_int64) == 0, c_bool), i=1, 3)]
    v%half = [(int(15360 + 1024 * (step + i - 1), int16), i=1, 3)]  ! 2 to the power of step + i - 1
    v%energy = 2.5_real64 * at
    v%deep = reshape([(int(100 * step) + i, i=0, 11)], shape(v%deep))
  end function

  subroutine set_parameters(step)
    integer(int64), intent(in) :: step
    call out%set_parameters(["n"], [mod(3 + 2 * step, 5_int64)])
    call out%set_parameters(["left", "x0  "], [1.5_real64 + real(step, real64), 0.5_real64 * real(step, real64)])
  end subroutine

  subroutine write_all(step)
    integer(int64), intent(in) :: step
    type(iteration_values) :: v
    complex(real64), pointer :: built(:)
    v = values_of(step)
    call set_parameters(step)
    call out%write("T", step, v%t)
    call out%write("E/x", step, v%ex)
    call out%alloc("E/y", step, built)
    built = v%ey
    call out%commit("E/y", step)
    call out%write("narrow", step, v%narrow)
    call out%write("flags", step, v%flags)
    call out%write("half", step, v%half)
    call out%write("deep", step, v%deep)
    call out%write("energy", step, v%energy)
    call out%write("electrons/position/x", step, v%x)
    call out%write("electrons/position/y", step, v%y)
    call out%write("electrons/id", step, v%id)
    call out%attribute(step, "note", "from the program")
    call out%attribute(step, "tags", ["a ", "bc"])
    call out%attribute(step, "norms", [0.5_real64, 1.5_real64])
    call out%attribute(step, "counts", [step, 2_int64])
    call out%attribute(step, "wave", "a wave", variable="E/x")
    call out%attribute(step, "number", step, variable="E/x")
    if (mod(step, 2_int64) == 0) then
      call out%end_iteration(step, time=1.5_real64 * real(step, real64), dt=0.125_real64)
    else
      call out%end_iteration(step)
    end if
  end subroutine

  subroutine read_back(step)
    integer(int64), intent(in) :: step
    type(iteration_values) :: v, found
    logical :: same
    v = values_of(step)
    call set_parameters(step)
    allocate (found%t(size(v%t)), found%x(size(v%x)), found%id(size(v%id)))
    call out%read("T", step, found%t)
    call out%read("E/x", step, found%ex)
    call out%read("E/y", step, found%ey)
    call out%read("narrow", step, found%narrow)
    call out%read("flags", step, found%flags)
    call out%read("half", step, found%half)
    call out%read("deep", step, found%deep)
    call out%read("energy", step, found%energy)
    call out%read("electrons/position/x", step, found%x)
    call out%read("electrons/id", step, found%id)
    same = all(v%t == found%t) .and. all(v%ex == found%ex) .and. all(v%ey == found%ey)
    same = same .and. all(v%narrow == found%narrow) .and. all(v%flags .eqv. found%flags)
    same = same .and. all(v%half == found%half) .and. all(v%deep == found%deep)
    same = same .and. v%energy == found%energy .and. all(v%x == found%x) .and. all(v%id == found%id)
    if (.not. same) error stop "an iteration was read back wrong"
  end subroutine
end program
