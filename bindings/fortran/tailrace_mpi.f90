! tailrace_mpi: for MPI programs in Fortran that give ranks to place `core`; what tailrace_mpi.h has for C.
!
!   call tailrace_mpi_split(MPI_COMM_WORLD, "sim.yaml", computing)
!   if (computing /= MPI_COMM_NULL) then                  ! else this rank was a server
!     call tailrace_mpi_open(computing, out, "sim.yaml")  ! client = rank
!     …
!     call out%close()
!     call MPI_Comm_free(computing, error)
!   end if
!
! Communicators are integers, as with `use mpi`. With `use mpi_f08`, pass `comm%MPI_VAL`. Both calls are collective
! over their communicator. The optional `status` is as in module tailrace.
module tailrace_mpi
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64
  use tailrace, only: tailrace_client, tailrace_ok
  implicit none
  private
  public :: tailrace_mpi_split, tailrace_mpi_open

  integer, parameter :: message_length = 8192  ! with the longest path

  ! Private copies of the types of tailrace_mpi.h and tailrace.h.
  type, bind(C) :: c_parameter
    type(c_ptr) :: name = c_null_ptr
    integer(c_int64_t) :: value = 0
  end type

  ! A text for C.
  type :: text_for_c
    character(:, c_char), allocatable :: letters
  end type

  type, bind(C) :: c_split_options
    type(c_ptr) :: path = c_null_ptr
    type(c_ptr) :: parameters = c_null_ptr
    integer(c_size_t) :: parameter_count = 0
    integer(c_int) :: cores = 0
    type(c_ptr) :: program = c_null_ptr
    real(c_double) :: wait = 0
  end type

  type, bind(C) :: c_where
    integer(c_int) :: rank = 0, size = 0, local_rank = 0, local_size = 0, node = 0, nodes = 0
  end type

  interface
    function c_split(comm, config, options, computing, message, size) bind(C, name="tailrace_mpi_f_split") &
        result(status)
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: config(*)
      type(c_split_options), intent(in) :: options
      integer(c_int), intent(out) :: computing
      character(kind=c_char), intent(inout) :: message(*)
      integer(c_size_t), value :: size
      integer(c_int) :: status
    end function

    function c_locate(comm, where, message, size) bind(C, name="tailrace_mpi_f_locate") result(status)
      import
      integer(c_int), value :: comm
      type(c_where), intent(out) :: where
      character(kind=c_char), intent(inout) :: message(*)
      integer(c_size_t), value :: size
      integer(c_int) :: status
    end function

    subroutine c_barrier(comm) bind(C, name="tailrace_mpi_f_barrier")
      import
      integer(c_int), value :: comm
    end subroutine
  end interface

contains

  ! Makes servers of the last `cores` ranks of each node (by default 1). `computing` is the communicator of all other
  ! ranks; on a rank that becomes a server it is MPI_COMM_NULL, after the last client has left. `path` and the
  ! parameters are as in tailrace_mpi_open; `program` is the path of tailrace-core, and a server to which no client
  ! comes ends after `wait` seconds. Fails on all ranks if a node would have no rank left to compute.
  subroutine tailrace_mpi_split(comm, config, computing, cores, path, parameter_names, parameter_values, program, &
                                wait, status, message)
    integer, intent(in) :: comm
    character(*), intent(in) :: config
    integer, intent(out) :: computing
    integer, intent(in), optional :: cores
    character(*), intent(in), optional :: path, parameter_names(:), program
    integer(int64), intent(in), optional :: parameter_values(:)
    real(c_double), intent(in), optional :: wait
    integer(c_int), intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: message
    character(:, c_char), allocatable, target :: c_path, c_program
    type(text_for_c), allocatable, target :: names(:)
    type(c_parameter), allocatable, target :: parameters(:)
    type(c_split_options) :: options
    character(message_length, c_char) :: text
    integer(c_int) :: code, result
    integer :: i, n

    options = c_split_options()
    if (present(cores)) options%cores = int(cores, c_int)
    ! 0 selects the default in C, but is no number of servers.
    if (options%cores == 0 .and. present(cores)) options%cores = -1
    if (present(wait)) options%wait = wait
    if (present(path)) then
      c_path = trim(path) // c_null_char
      options%path = c_loc(c_path)
    end if
    if (present(program)) then
      c_program = trim(program) // c_null_char
      options%program = c_loc(c_program)
    end if
    if (present(parameter_names) .and. present(parameter_values)) then
      n = min(size(parameter_names), size(parameter_values))
      allocate (names(n), parameters(n))
      do i = 1, n
        names(i)%letters = trim(parameter_names(i)) // c_null_char
        parameters(i) = c_parameter(c_loc(names(i)%letters), parameter_values(i))
      end do
      if (n > 0) options%parameters = c_loc(parameters)
      options%parameter_count = n
    end if
    code = c_split(int(comm, c_int), trim(config) // c_null_char, options, result, text, int(len(text), c_size_t))
    computing = result
    call settle(code, text, status, message)
  end subroutine

  ! Opens the client whose number is the rank in `comm`. The configuration gets the parameters rank, size, local_rank,
  ! local_size, node and nodes; those that are given take precedence. Returns when all ranks have opened or failed.
  subroutine tailrace_mpi_open(comm, out, config, path, parameter_names, parameter_values, status)
    integer, intent(in) :: comm
    type(tailrace_client), intent(inout) :: out
    character(*), intent(in) :: config
    character(*), intent(in), optional :: path, parameter_names(:)
    integer(int64), intent(in), optional :: parameter_values(:)
    integer(c_int), intent(out), optional :: status
    character(message_length, c_char) :: text
    type(c_where) :: where
    integer(c_int) :: code
    integer :: length, more

    code = c_locate(int(comm, c_int), where, text, int(len(text), c_size_t))
    if (code /= tailrace_ok) then
      call settle(code, text, status)
      return
    end if
    length = 0
    more = 0
    if (present(parameter_names) .and. present(parameter_values)) then
      length = len(parameter_names)
      more = min(size(parameter_names), size(parameter_values))
    end if
    call open_there(out, where, config, path, length, more, parameter_names, parameter_values, code)
    call c_barrier(int(comm, c_int))
    if (present(status)) then
      status = code
    else if (code /= tailrace_ok) then
      call settle(code, out%message() // c_null_char)
    end if
  end subroutine

  ! Opens with the numbers of the rank, and with `more` parameters whose names have at most `length` letters.
  subroutine open_there(out, where, config, path, length, more, parameter_names, parameter_values, code)
    type(tailrace_client), intent(inout) :: out
    type(c_where), intent(in) :: where
    character(*), intent(in) :: config
    character(*), intent(in), optional :: path, parameter_names(:)
    integer, intent(in) :: length, more
    integer(int64), intent(in), optional :: parameter_values(:)
    integer(c_int), intent(out) :: code
    integer, parameter :: own = 6
    character(max(length, len("local_rank"))) :: names(own + more)
    integer(int64) :: values(own + more)

    names(:own) = [character(10) :: "rank", "size", "local_rank", "local_size", "node", "nodes"]
    values(:own) = int([where%rank, where%size, where%local_rank, where%local_size, where%node, where%nodes], int64)
    if (more > 0) then
      names(own + 1:) = parameter_names(:more)
      values(own + 1:) = parameter_values(:more)
    end if
    call out%open(config, int(where%rank), path=path, parameter_names=names, parameter_values=values, status=code)
  end subroutine

  ! Hands on a status, and stops the program if no caller takes a failure.
  subroutine settle(code, text, status, message)
    integer(c_int), intent(in) :: code
    character(*), intent(in) :: text
    integer(c_int), intent(out), optional :: status
    character(:), allocatable, intent(out), optional :: message
    integer :: length

    length = index(text, c_null_char) - 1
    if (length < 0) length = len_trim(text)
    if (present(message)) then
      message = ""
      if (code /= tailrace_ok) message = text(:length)
    end if
    if (present(status)) then
      status = code
    else if (code /= tailrace_ok) then
      write (error_unit, "(a)") text(:length)
      error stop 1
    end if
  end subroutine
end module
