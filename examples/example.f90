! The example of the README in Fortran: three steps, and one way to hand a block over for each variable.
program example
  use, intrinsic :: iso_fortran_env, only: real64
  use tailrace
  implicit none
  type(tailrace_client) :: out
  type(tailrace_ticket) :: ticket
  real(real64), target :: solution(64, 48), density(64, 48)
  real(real64), pointer :: pressure(:, :)
  integer :: step, i

  call out%open("sim.yaml")
  do step = 0, 2
    solution = 1000 * step + reshape([(real(i, real64), i = 0, 64 * 48 - 1)], [64, 48])
    call out%write("temperature", step, solution)            ! one copy; `solution` is ours again
    call out%alloc("pressure", step, pressure)               ! tailrace's memory: no copy
    pressure = 2 * solution
    call out%commit("pressure", step)
    density = 3 * solution
    call out%borrow("density", step, density, ticket)        ! our memory: leave it alone until …
    call out%end_iteration(step)
    call out%wait(ticket)                                    ! … here
  end do
  call out%close()
end program
