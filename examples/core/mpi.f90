! The example of the README in Fortran under MPI, where the last rank of each node becomes the server: `mpiexec -n 5
! mpi` has four ranks that compute. Each of these is a client, whose number is its rank.
program client_of_mpi
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use tailrace
  use tailrace_mpi
  implicit none
  type(MPI_Comm) :: computing

  call MPI_Init()
  call tailrace_mpi_split(MPI_COMM_WORLD%MPI_VAL, "sim.yaml", computing%MPI_VAL)
  if (computing /= MPI_COMM_NULL) then
    call compute()
    call MPI_Comm_free(computing)
  end if
  call MPI_Finalize()

contains

  subroutine compute()
    type(tailrace_client) :: out
    type(tailrace_ticket) :: ticket
    real(real64), target :: solution(64, 48), density(64, 48)
    real(real64), pointer :: pressure(:, :)
    integer :: rank, step, i

    call MPI_Comm_rank(computing, rank)
    call tailrace_mpi_open(computing%MPI_VAL, out, "sim.yaml")
    do step = 0, 2
      solution = 10000 * rank + 1000 * step + reshape([(real(i, real64), i = 0, 64 * 48 - 1)], [64, 48])
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
  end subroutine
end program
