! The example of the README in Fortran as one of several clients of a node: `client --client 3`. The configuration,
! not the program, makes a server process write the blocks (place core): only the client's number shows it here.
program client_of_a_node
  use, intrinsic :: iso_fortran_env, only: real64
  use tailrace
  implicit none
  type(tailrace_client) :: out
  type(tailrace_ticket) :: ticket
  real(real64), target :: solution(64, 48), density(64, 48)
  real(real64), pointer :: pressure(:, :)
  character(16) :: argument
  integer :: client, step, i

  client = 0
  if (command_argument_count() == 2) then    ! under MPI: the rank
    call get_command_argument(2, argument)
    read (argument, *) client
  end if
  call out%open("sim.yaml", client)
  do step = 0, 2
    solution = 10000 * client + 1000 * step + reshape([(real(i, real64), i = 0, 64 * 48 - 1)], [64, 48])
    call out%write("temperature", step, solution)            ! one copy; `solution` is ours again
    call out%alloc("pressure", step, pressure)               ! memory shared with the server: no copy
    pressure = 2 * solution
    call out%commit("pressure", step)
    density = 3 * solution
    call out%borrow("density", step, density, ticket)        ! copied: the server cannot see it
    call out%end_iteration(step)
    call out%wait(ticket)
  end do
  call out%close()
end program
