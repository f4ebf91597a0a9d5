! Each text that the Fortran module takes reaches the C interface, for which fortran_texts.c stands, with 300 letters.
program fortran_texts
  use, intrinsic :: iso_c_binding, only: c_int, c_long_double
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use tailrace
  implicit none
  type(tailrace_client) :: out
  type(tailrace_ticket) :: ticket
  type(tailrace_variable_stats) :: stats
  integer(c_int) :: status
  character(310) :: long(2)  ! with blanks behind
  character(:), allocatable :: text
  real(real64) :: data(2) = 0
  real(c_long_double) :: wide(2) = 0
  real(real64), pointer :: memory(:)
  long = [repeat("a", 299) // "z", repeat("b", 299) // "z"]
  text = long(1)
  call out%open(text, path=text, text=trim(text), parameter_names=long, parameter_values=[0_int64, 1_int64], &
                real_names=long, real_values=[0.0_real64, 1.0_real64], status=status)
  call expect("open")
  call out%set_parameters(long, [1_int64, 2_int64], status)
  call expect("set_parameters")
  call out%set_parameters(long, [1.0_real64, 2.0_real64], status)
  call expect("set_parameters of real numbers")
  call out%write(text, 0, data, status)
  call expect("write")
  call out%read(text, 0, data, status)
  call expect("read")
  call out%borrow(text, 0, data, ticket, status)
  call expect("borrow")
  call out%write_long_double(text, 0, wide, status)
  call expect("write_long_double")
  call out%read_long_double(text, 0, wide, status)
  call expect("read_long_double")
  call out%borrow_long_double(text, 0, wide, ticket, status)
  call expect("borrow_long_double")
  call out%alloc(text, 0, memory, status)
  call expect("alloc")
  call out%commit(text, 0, status)
  call expect("commit")
  call out%signal(text, 0, status)
  call expect("signal")
  call out%enable(text, .true., status)
  call expect("enable")
  call out%variable_stats(text, stats, status)
  call expect("variable_stats")
  call out%attribute(0, text, text, text, status)
  call expect("attribute with a text")
  call out%attribute(0, text, long, text, status)
  call expect("attribute with texts")
  call out%attribute(0, text, 1_int32, text, status)
  call expect("attribute with an integer")
  call out%attribute(0, text, 1_int64, text, status)
  call expect("attribute with a long integer")
  call out%attribute(0, text, 1.0_real32, text, status)
  call expect("attribute with a real number")
  call out%attribute(0, text, 1.0_real64, text, status)
  call expect("attribute with a double")

contains

  subroutine expect(what)
    character(*), intent(in) :: what
    if (status /= tailrace_ok) error stop "a text was cut: " // what
  end subroutine
end program
