! tailrace: the Fortran interface, a module over the C header and descriptors.c. It holds no logic.
!
!   use tailrace
!   type(tailrace_client) :: out
!   call out%open("sim.yaml")
!   call out%write("temperature", step, t)        ! one copy
!   call out%end_iteration(step)
!   call out%close()
!
! Conventions, beside those of tailrace.h:
!  - Arrays may be of any declared type and of rank 0 to 8, and must be contiguous. bool is logical(c_bool). Integers
!    of the same size have the bits of unsigned integers and of float16, which Fortran lacks.
!    Dimensions are in Fortran's order:
!    t(nx, ny, nz) is the variable of shape [nz, ny, nx] in the configuration.
!  - Arrays of real(c_long_double) have verbs of their own: write_long_double, borrow_long_double, read_long_double.
!    (An assumed-type array does not know its kind, and quadruple precision is as long.)
!  - An iteration is an integer of default kind or of 64 bits.
!  - Every verb has an optional last argument `status`. If it is given, it is tailrace_ok or says what went wrong;
!    `message()` then explains it. If it is absent, all but tailrace_ok and tailrace_dropped stop the program
!    with that message. An `alloc` for a dropped iteration stops it too, since there is no memory to point to.
!  - tailrace_earlier_failure: the call was carried out, so do not repeat it; a block handed over before was lost.
!  - One thread at a time may use a client.
module tailrace
  use, intrinsic :: iso_c_binding
  use tailrace_interface
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  implicit none
  private

  public :: tailrace_client, tailrace_ticket, tailrace_failure, tailrace_statistics
  public :: tailrace_times, tailrace_variable_stats
  public :: tailrace_version, tailrace_status_text

  ! The status codes, as in tailrace.h.
  enum, bind(C)
    enumerator :: tailrace_ok = 0
    enumerator :: tailrace_invalid_argument = 101, tailrace_invalid_config, tailrace_unknown_variable
    enumerator :: tailrace_wrong_type, tailrace_wrong_shape, tailrace_wrong_order, tailrace_too_large
    enumerator :: tailrace_budget_held, tailrace_not_found, tailrace_client_in_use, tailrace_closed, tailrace_busy
    enumerator :: tailrace_unsupported, tailrace_exists, tailrace_forked
    enumerator :: tailrace_timeout = 201, tailrace_dropped, tailrace_action_failed, tailrace_clients_missing
    enumerator :: tailrace_io_error = 301, tailrace_earlier_failure, tailrace_not_published, tailrace_server_lost
    enumerator :: tailrace_out_of_memory = 401, tailrace_internal
  end enum
  public :: tailrace_ok, tailrace_invalid_argument, tailrace_invalid_config, tailrace_unknown_variable
  public :: tailrace_wrong_type, tailrace_wrong_shape, tailrace_wrong_order, tailrace_too_large
  public :: tailrace_budget_held, tailrace_not_found, tailrace_client_in_use, tailrace_closed, tailrace_busy
  public :: tailrace_unsupported, tailrace_exists, tailrace_forked, tailrace_timeout, tailrace_dropped
  public :: tailrace_io_error
  public :: tailrace_earlier_failure
  public :: tailrace_not_published, tailrace_out_of_memory, tailrace_internal, tailrace_action_failed
  public :: tailrace_clients_missing, tailrace_server_lost

  ! Returned by descriptors.c for an array with gaps, and for one of a type that no variable can have.
  integer(c_int), parameter :: not_contiguous = -1, no_element_type = -2

  integer(c_int), parameter :: text_type = 100  ! TAILRACE_TEXT

  ! The details of a failure; see tailrace_error in tailrace.h.
  type :: tailrace_failure
    integer(c_int) :: status = tailrace_ok
    logical :: earlier = .false.
    integer :: system_errno = 0
    integer(int64) :: iteration = -1
    integer(int64) :: more = 0
    character(:), allocatable :: operation, file, variable, message
  end type

  ! A text for C.
  type :: text_for_c
    character(:, c_char), allocatable :: letters
  end type

  ! A client of the program. Close it: there is no finalizer, since it could not report failures.
  type :: tailrace_client
    private
    type(c_ptr) :: handle = c_null_ptr
    ! The message of a refusal in the last call that the C interface does not know; else not allocated.
    character(:), allocatable :: own_message
    integer(c_int) :: own_status = tailrace_ok
  contains
    procedure :: open => client_open
    procedure :: write => client_write
    procedure, private :: alloc_int8, alloc_int16, alloc_int32, alloc_int64
    procedure, private :: alloc_float32, alloc_float64, alloc_long_double
    procedure, private :: alloc_bool, alloc_complex64, alloc_complex128
    ! Allocates memory to build a block in, without a copy: `call out%alloc("t", step, p)` with a pointer array p of
    ! the type and rank of the variable. It must not be used after commit.
    generic :: alloc => alloc_int8, alloc_int16, alloc_int32, alloc_int64, alloc_float32, alloc_float64, &
                        alloc_long_double, alloc_bool, alloc_complex64, alloc_complex128
    procedure :: commit => client_commit
    procedure :: borrow => client_borrow
    procedure :: wait => client_wait
    procedure :: test => client_test
    procedure :: end_iteration => client_end_iteration
    procedure :: signal => client_signal
    procedure, private :: attribute_text, attribute_texts
    procedure, private :: attribute_int32, attribute_int64, attribute_real32, attribute_real64
    ! Sets an attribute of an iteration, or of a variable in it: a text, a number, or a vector of texts or numbers.
    generic :: attribute => attribute_text, attribute_texts, attribute_int32, attribute_int64, attribute_real32, &
                            attribute_real64
    procedure, private :: client_set_parameters, client_set_real_parameters
    generic :: set_parameters => client_set_parameters, client_set_real_parameters
    procedure :: enable => client_enable
    procedure :: flush => client_flush
    procedure :: last_iteration => client_last_iteration
    procedure :: last_time => client_last_time
    procedure :: read => client_read
    procedure :: write_long_double => client_write_long_double
    procedure :: borrow_long_double => client_borrow_long_double
    procedure :: read_long_double => client_read_long_double
    procedure :: stats => client_stats
    procedure :: variable_stats => client_variable_stats
    procedure :: describe => client_describe
    procedure :: last_error => client_last_error
    procedure :: message => client_message
    procedure :: close => client_close
  end type

contains

  ! Opens client `client` (default 0) with the configuration file `config`. `path` replaces storage.path; `text`, if
  ! given, is the YAML itself; parameter_names(i) is set to parameter_values(i).
  subroutine client_open(self, config, client, path, text, parameter_names, parameter_values, real_names, &
                         real_values, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: config
    integer, intent(in), optional :: client
    character(*), intent(in), optional :: path, text
    character(*), intent(in), optional :: parameter_names(:)
    integer(int64), intent(in), optional :: parameter_values(:)
    character(*), intent(in), optional :: real_names(:)
    real(real64), intent(in), optional :: real_values(:)
    integer(c_int), intent(out), optional :: status
    character(:, c_char), allocatable, target :: c_path, c_text
    type(text_for_c), allocatable, target :: names(:), names_of_reals(:)
    type(c_parameter), allocatable, target :: parameters(:)
    type(c_real_parameter), allocatable, target :: reals(:)
    type(c_options) :: options
    integer :: id, n

    id = 0
    if (present(client)) id = client
    options%struct_size = c_sizeof(options)
    if (present(path)) then
      c_path = trim(path) // c_null_char
      options%path = c_loc(c_path)
    end if
    if (present(text)) then
      c_text = text // c_null_char
      options%config_text = c_loc(c_text)
    end if
    if (present(parameter_names) .and. present(parameter_values)) then
      n = min(size(parameter_names), size(parameter_values))
      allocate (names(n), parameters(n))
      call fill(parameters, names, parameter_names, parameter_values)
      if (n > 0) options%parameters = c_loc(parameters)
      options%parameter_count = n
    end if
    if (present(real_names) .and. present(real_values)) then
      n = min(size(real_names), size(real_values))
      allocate (names_of_reals(n), reals(n))
      call fill_reals(reals, names_of_reals, real_names, real_values)
      if (n > 0) options%real_parameters = c_loc(reals)
      options%real_parameter_count = n
    end if
    if (allocated(self%own_message)) deallocate (self%own_message)
    call settle(self, c_open(c_string(config), int(id, c_int), options, self%handle), status)
  end subroutine

  ! Hands over a copy of `data`, which may change as soon as this returns.
  subroutine client_write(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    type(*), intent(in) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_write(self%handle, c_string(variable), whole(iteration), data), status)
  end subroutine

  ! Lends `data`, a variable with the target or asynchronous attribute. It must not change until the ticket has ended.
  subroutine client_borrow(self, variable, iteration, data, ticket, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    type(*), intent(in), asynchronous :: data(..)
    type(tailrace_ticket), intent(out) :: ticket
    integer(c_int), intent(out), optional :: status
    call settle(self, c_borrow(self%handle, c_string(variable), whole(iteration), data, ticket), status)
  end subroutine

  ! Hands over the block that alloc returned. Its memory must not be used any more.
  subroutine client_commit(self, variable, iteration, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    integer(c_int), intent(out), optional :: status
    call settle(self, c_commit(self%handle, c_string(variable), whole(iteration)), status)
  end subroutine

  ! Waits until the block of `ticket` is written, at most `timeout_ms` milliseconds (absent: without limit). The
  ! status is tailrace_timeout if it is not written by then.
  subroutine client_wait(self, ticket, timeout_ms, status)
    class(tailrace_client), intent(inout) :: self
    type(tailrace_ticket), intent(in) :: ticket
    integer, intent(in), optional :: timeout_ms
    integer(c_int), intent(out), optional :: status
    integer(c_int64_t) :: limit
    limit = -1
    if (present(timeout_ms)) limit = timeout_ms
    call settle(self, c_wait(ticket, limit), status)
  end subroutine

  ! Sets `ended` to true if the block of `ticket` is written. Does not wait.
  subroutine client_test(self, ticket, ended, status)
    class(tailrace_client), intent(inout) :: self
    type(tailrace_ticket), intent(in) :: ticket
    logical, intent(out) :: ended
    integer(c_int), intent(out), optional :: status
    integer(c_int) :: flag, result
    result = c_test(ticket, flag)
    ended = flag /= 0
    call settle(self, result, status)
  end subroutine

  ! Ends `iteration`: no more blocks come for it, and its file is completed in the background.
  subroutine client_end_iteration(self, iteration, time, dt, status)
    class(tailrace_client), intent(inout) :: self
    class(*), intent(in) :: iteration
    real(real64), intent(in), optional :: time, dt
    integer(c_int), intent(out), optional :: status
    real(c_double) :: given(2)
    given = ieee_value(given, ieee_quiet_nan)  ! as the configuration says
    if (present(time)) given(1) = time
    if (present(dt)) given(2) = dt
    call settle(self, c_end_iteration(self%handle, whole(iteration), given(1), given(2)), status)
  end subroutine

  ! Set the attribute `name` of `iteration`, or of `variable` in it. A later call replaces the value.
  subroutine attribute_text(self, iteration, name, value, variable, status)
    class(tailrace_client), intent(inout) :: self
    class(*), intent(in) :: iteration
    character(*), intent(in) :: name, value
    character(*), intent(in), optional :: variable
    integer(c_int), intent(out), optional :: status
    character(:, c_char), allocatable, target :: of, text
    text = c_string(value)
    of = c_string("")
    if (present(variable)) of = c_string(variable)
    call settle(self, c_attribute(self%handle, address_of(of), whole(iteration), c_string(name), text_type, &
                                  1_c_size_t, [c_loc(text)]), status)
  end subroutine

  subroutine attribute_texts(self, iteration, name, value, variable, status)
    class(tailrace_client), intent(inout) :: self
    class(*), intent(in) :: iteration
    character(*), intent(in) :: name, value(:)
    character(*), intent(in), optional :: variable
    integer(c_int), intent(out), optional :: status
    character(len(value) + 1, c_char), target :: texts(size(value))
    character(:, c_char), allocatable, target :: of
    type(c_ptr) :: addresses(size(value))
    integer :: i
    of = c_string("")
    if (present(variable)) of = c_string(variable)
    do i = 1, size(value)
      texts(i) = c_string(value(i))
      addresses(i) = c_loc(texts(i))
    end do
    call settle(self, c_attribute(self%handle, address_of(of), whole(iteration), c_string(name), text_type, &
                                  size(value, kind=c_size_t), addresses), status)
  end subroutine

  subroutine attribute_int32(self, iteration, name, value, variable, status)
    class(tailrace_client), intent(inout) :: self
    class(*), intent(in) :: iteration
    character(*), intent(in) :: name
    integer(int32), intent(in) :: value(..)
    character(*), intent(in), optional :: variable
    integer(c_int), intent(out), optional :: status
    character(:, c_char), allocatable, target :: of
    of = c_string("")
    if (present(variable)) of = c_string(variable)
    call settle(self, c_attribute_of(self%handle, address_of(of), whole(iteration), c_string(name), value), status)
  end subroutine

  subroutine attribute_int64(self, iteration, name, value, variable, status)
    class(tailrace_client), intent(inout) :: self
    class(*), intent(in) :: iteration
    character(*), intent(in) :: name
    integer(int64), intent(in) :: value(..)
    character(*), intent(in), optional :: variable
    integer(c_int), intent(out), optional :: status
    character(:, c_char), allocatable, target :: of
    of = c_string("")
    if (present(variable)) of = c_string(variable)
    call settle(self, c_attribute_of(self%handle, address_of(of), whole(iteration), c_string(name), value), status)
  end subroutine

  subroutine attribute_real32(self, iteration, name, value, variable, status)
    class(tailrace_client), intent(inout) :: self
    class(*), intent(in) :: iteration
    character(*), intent(in) :: name
    real(real32), intent(in) :: value(..)
    character(*), intent(in), optional :: variable
    integer(c_int), intent(out), optional :: status
    character(:, c_char), allocatable, target :: of
    of = c_string("")
    if (present(variable)) of = c_string(variable)
    call settle(self, c_attribute_of(self%handle, address_of(of), whole(iteration), c_string(name), value), status)
  end subroutine

  subroutine attribute_real64(self, iteration, name, value, variable, status)
    class(tailrace_client), intent(inout) :: self
    class(*), intent(in) :: iteration
    character(*), intent(in) :: name
    real(real64), intent(in) :: value(..)
    character(*), intent(in), optional :: variable
    integer(c_int), intent(out), optional :: status
    character(:, c_char), allocatable, target :: of
    of = c_string("")
    if (present(variable)) of = c_string(variable)
    call settle(self, c_attribute_of(self%handle, address_of(of), whole(iteration), c_string(name), value), status)
  end subroutine

  ! Records the event `event` of `iteration`.
  subroutine client_signal(self, event, iteration, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: event
    class(*), intent(in) :: iteration
    integer(c_int), intent(out), optional :: status
    call settle(self, c_signal(self%handle, c_string(event), whole(iteration)), status)
  end subroutine

  ! Sets the parameter names(i) to values(i), all at once. The shapes that name them change for the blocks of later
  ! calls. If this fails, nothing changes.
  subroutine client_set_parameters(self, names, values, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: names(:)
    integer(int64), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: status
    type(text_for_c), allocatable, target :: texts(:)
    type(c_parameter), allocatable :: parameters(:)
    integer :: n
    n = min(size(names), size(values))
    allocate (texts(n), parameters(n))
    call fill(parameters, texts, names, values)
    call settle(self, c_set_parameters(self%handle, parameters, int(n, c_size_t)), status)
  end subroutine

  ! Does the same for real numbers.
  subroutine client_set_real_parameters(self, names, values, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: names(:)
    real(real64), intent(in) :: values(:)
    integer(c_int), intent(out), optional :: status
    type(text_for_c), allocatable, target :: texts(:)
    type(c_real_parameter), allocatable :: parameters(:)
    integer :: n
    n = min(size(names), size(values))
    allocate (texts(n), parameters(n))
    call fill_reals(parameters, texts, names, values)
    call settle(self, c_set_real_parameters(self%handle, parameters, int(n, c_size_t)), status)
  end subroutine

  ! Switches a variable on or off. Blocks of a variable that is off are accepted and not written.
  subroutine client_enable(self, variable, on, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    logical, intent(in) :: on
    integer(c_int), intent(out), optional :: status
    call settle(self, c_enable(self%handle, c_string(variable), merge(1_c_int, 0_c_int, on)), status)
  end subroutine

  ! Waits until everything handed over has reached what storage.durability asks for.
  subroutine client_flush(self, status)
    class(tailrace_client), intent(inout) :: self
    integer(c_int), intent(out), optional :: status
    call settle(self, c_flush(self%handle), status)
  end subroutine

  ! Returns in `iteration` the last one that an earlier run has published, when the client was opened; -1 if there is
  ! none.
  subroutine client_last_iteration(self, iteration, status)
    class(tailrace_client), intent(inout) :: self
    integer(int64), intent(out) :: iteration
    integer(c_int), intent(out), optional :: status
    call settle(self, c_last_iteration(self%handle, iteration), status)
  end subroutine

  ! Returns in `time` the time of that iteration, in time.unit; NaN if there is none, or if its file has no time.
  subroutine client_last_time(self, time, status)
    class(tailrace_client), intent(inout) :: self
    real(real64), intent(out) :: time
    integer(c_int), intent(out), optional :: status
    call settle(self, c_last_time(self%handle, time), status)
  end subroutine

  ! Reads a block that this client wrote into `data`.
  subroutine client_read(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    type(*), intent(inout) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_read(self%handle, c_string(variable), whole(iteration), data), status)
  end subroutine

  subroutine client_write_long_double(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    real(c_long_double), intent(in) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_write_long_double(self%handle, c_string(variable), whole(iteration), data), status)
  end subroutine

  subroutine client_borrow_long_double(self, variable, iteration, data, ticket, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    real(c_long_double), intent(in), asynchronous :: data(..)
    type(tailrace_ticket), intent(out) :: ticket
    integer(c_int), intent(out), optional :: status
    call settle(self, c_borrow_long_double(self%handle, c_string(variable), whole(iteration), data, ticket), status)
  end subroutine

  subroutine client_read_long_double(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    real(c_long_double), intent(inout) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_read_long_double(self%handle, c_string(variable), whole(iteration), data), status)
  end subroutine

  ! Returns the counters of this client.
  subroutine client_stats(self, stats, status)
    class(tailrace_client), intent(inout) :: self
    type(tailrace_statistics), intent(out) :: stats
    integer(c_int), intent(out), optional :: status
    stats%struct_size = c_sizeof(stats)
    call settle(self, c_get_stats(self%handle, stats), status)
  end subroutine

  ! Returns the counters of one declared variable.
  subroutine client_variable_stats(self, variable, stats, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    type(tailrace_variable_stats), intent(out) :: stats
    integer(c_int), intent(out), optional :: status
    stats%struct_size = c_sizeof(stats)
    call settle(self, c_get_variable_stats(self%handle, c_string(variable), stats), status)
  end subroutine

  ! Returns one line of text that describes the writer; "" if the client is not open.
  function client_describe(self) result(text)
    class(tailrace_client), intent(in) :: self
    character(:), allocatable :: text
    type(c_ptr) :: pointer
    text = ""
    pointer = c_null_ptr
    if (c_describe(self%handle, pointer) == tailrace_ok) text = f_string(pointer)
  end function

  ! Returns the details of the failure that the last failing call returned. The message has shapes in C's order.
  subroutine client_last_error(self, failure)
    class(tailrace_client), intent(in) :: self
    type(tailrace_failure), intent(out) :: failure
    type(c_error) :: error
    integer(c_int) :: status
    if (allocated(self%own_message)) then
      failure%status = self%own_status
      failure%operation = ""
      failure%file = ""
      failure%variable = ""
      failure%message = self%own_message
      return
    end if
    error = c_error(c_sizeof(error), 0, 0, 0, -1, 0, c_null_ptr, c_null_ptr, c_null_ptr, c_null_ptr)
    status = c_last_error(self%handle, error)
    failure%status = merge(error%status, status, status == tailrace_ok)
    failure%earlier = error%earlier /= 0
    failure%system_errno = error%system_errno
    failure%iteration = error%iteration
    failure%more = error%more
    failure%operation = f_string(error%operation)
    failure%file = f_string(error%file)
    failure%variable = f_string(error%variable)
    failure%message = f_string(error%message)
    if (index(failure%message, "found shape [") > 0) then
      failure%message = failure%message // "; both are in C's order, the reverse of Fortran's"
    end if
  end subroutine

  ! Returns the message of that failure.
  function client_message(self) result(text)
    class(tailrace_client), intent(in) :: self
    character(:), allocatable :: text
    type(tailrace_failure) :: failure
    call self%last_error(failure)
    text = failure%message
    if (len(text) == 0) text = tailrace_status_text(failure%status)
  end function

  ! Waits until everything handed over has ended, and closes. Reports failures that no call has reported yet.
  subroutine client_close(self, status)
    class(tailrace_client), intent(inout) :: self
    integer(c_int), intent(out), optional :: status
    call settle(self, c_close(self%handle), status)
  end subroutine

  ! Returns "0.1.0", for example.
  function tailrace_version() result(text)
    character(:), allocatable :: text
    text = f_string(c_version())
  end function

  ! Returns a short English name of a status.
  function tailrace_status_text(status) result(text)
    integer(c_int), intent(in) :: status
    character(:), allocatable :: text
    text = f_string(c_status_text(status))
  end function

  ! The bodies of `alloc`, one for each type, since Fortran has no pointer to any type.
  subroutine alloc_int8(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    integer(c_int8_t), pointer, intent(inout) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_alloc_int8(self%handle, c_string(variable), whole(iteration), data), &
                status, needed=.true.)
  end subroutine

  subroutine alloc_int16(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    integer(c_int16_t), pointer, intent(inout) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_alloc_int16(self%handle, c_string(variable), whole(iteration), data), &
                status, needed=.true.)
  end subroutine

  subroutine alloc_int32(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    integer(c_int32_t), pointer, intent(inout) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_alloc_int32(self%handle, c_string(variable), whole(iteration), data), &
                status, needed=.true.)
  end subroutine

  subroutine alloc_int64(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    integer(c_int64_t), pointer, intent(inout) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_alloc_int64(self%handle, c_string(variable), whole(iteration), data), &
                status, needed=.true.)
  end subroutine

  subroutine alloc_float32(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    real(c_float), pointer, intent(inout) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_alloc_float32(self%handle, c_string(variable), whole(iteration), data), &
                status, needed=.true.)
  end subroutine

  subroutine alloc_float64(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    real(c_double), pointer, intent(inout) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_alloc_float64(self%handle, c_string(variable), whole(iteration), data), &
                status, needed=.true.)
  end subroutine

  subroutine alloc_bool(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    logical(c_bool), pointer, intent(inout) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_alloc_bool(self%handle, c_string(variable), whole(iteration), data), &
                status, needed=.true.)
  end subroutine

  subroutine alloc_complex64(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    complex(c_float_complex), pointer, intent(inout) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_alloc_complex64(self%handle, c_string(variable), whole(iteration), data), &
                status, needed=.true.)
  end subroutine

  subroutine alloc_complex128(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    complex(c_double_complex), pointer, intent(inout) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_alloc_complex128(self%handle, c_string(variable), whole(iteration), data), &
                status, needed=.true.)
  end subroutine

  subroutine alloc_long_double(self, variable, iteration, data, status)
    class(tailrace_client), intent(inout) :: self
    character(*), intent(in) :: variable
    class(*), intent(in) :: iteration
    real(c_long_double), pointer, intent(inout) :: data(..)
    integer(c_int), intent(out), optional :: status
    call settle(self, c_alloc_long_double(self%handle, c_string(variable), whole(iteration), data), &
                status, needed=.true.)
  end subroutine

  ! Fills in parameters as C takes them; `texts` holds their names.
  subroutine fill(parameters, texts, names, values)
    type(c_parameter), intent(out) :: parameters(:)
    type(text_for_c), intent(out), target :: texts(:)
    character(*), intent(in) :: names(:)
    integer(int64), intent(in) :: values(:)
    integer :: i
    do i = 1, size(parameters)
      texts(i)%letters = c_string(names(i))
      parameters(i) = c_parameter(c_loc(texts(i)%letters), values(i))
    end do
  end subroutine

  subroutine fill_reals(parameters, texts, names, values)
    type(c_real_parameter), intent(out) :: parameters(:)
    type(text_for_c), intent(out), target :: texts(:)
    character(*), intent(in) :: names(:)
    real(real64), intent(in) :: values(:)
    integer :: i
    do i = 1, size(parameters)
      texts(i)%letters = c_string(names(i))
      parameters(i) = c_real_parameter(c_loc(texts(i)%letters), values(i))
    end do
  end subroutine

  ! Returns the address of a text for C; NULL for an empty one.
  type(c_ptr) function address_of(text)
    character(*, c_char), intent(in), target :: text
    address_of = c_null_ptr
    if (len(text) > 1) address_of = c_loc(text)
  end function

  ! Returns a status to the caller, or stops with its message.
  subroutine settle(self, result, status, needed)
    class(tailrace_client), intent(inout) :: self
    integer(c_int), intent(in) :: result
    integer(c_int), intent(out), optional :: status
    logical, intent(in), optional :: needed  ! stop also for a dropped iteration
    character(:), allocatable :: text
    if (allocated(self%own_message)) deallocate (self%own_message)
    if (result == not_contiguous) then
      self%own_status = tailrace_invalid_argument
      self%own_message = "expected a contiguous array, found one with gaps between its elements"
    else if (result == no_element_type) then
      self%own_status = tailrace_wrong_type
      self%own_message = "expected integers of 8 to 64 bits, real32, real64, complex or logical(c_bool), " // &
                         "found another type " // &
                         "(arrays of real(c_long_double) have verbs of their own, such as write_long_double)"
    end if
    if (present(status)) then
      status = result
      if (allocated(self%own_message)) status = self%own_status
      return
    end if
    if (result == tailrace_ok) return
    if (result == tailrace_dropped .and. .not. present(needed)) return
    text = "tailrace: " // self%message()
    error stop text
  end subroutine

  ! Returns the iteration as 64 bits; -1, which C refuses, if it is not an integer of an accepted kind.
  integer(c_int64_t) function whole(iteration)
    class(*), intent(in) :: iteration
    select type (iteration)
    type is (integer(int32))
      whole = iteration
    type is (integer(int64))
      whole = iteration
    class default
      whole = -1
    end select
  end function

  ! Returns the text without trailing blanks, and terminated for C.
  pure function c_string(text) result(c)
    character(*), intent(in) :: text
    character(:, c_char), allocatable :: c
    c = trim(text) // c_null_char
  end function

  function f_string(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: bytes(:)
    integer(c_size_t) :: i, n
    n = 0
    if (c_associated(pointer)) n = c_strlen(pointer)
    allocate (character(n) :: text)
    if (n == 0) return
    call c_f_pointer(pointer, bytes, [n])
    do i = 1, n
      text(i:i) = bytes(i)
    end do
  end function

end module tailrace
