! tailrace_interface: the C functions that the module tailrace calls, and their types, member by member. Internal.
module tailrace_interface
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! A handle on one borrowed block. A plain value, valid until its client is closed.
  type, bind(C) :: tailrace_ticket
    type(c_ptr) :: client = c_null_ptr
    integer(c_int64_t) :: id = 0
  end type

  ! The counters of a client: tailrace_stats of tailrace.h, member by member.
  type, bind(C) :: tailrace_statistics
    integer(c_size_t) :: struct_size = 0
    integer(c_int64_t) :: blocks_accepted, blocks_written, blocks_failed, blocks_dropped, blocks_written_through
    integer(c_int64_t) :: bytes_accepted, bytes_written
    integer(c_int64_t) :: iterations_ended, iterations_published, iterations_dropped, iterations_failed
    integer(c_int64_t) :: signals, failures, failures_unseen
    integer(c_int64_t) :: memory_budget, memory_held, memory_peak
    real(c_double) :: seconds_copying, seconds_waiting_memory, seconds_waiting_ticket, seconds_writing
    integer(c_int64_t) :: requests_merged, requests_peak
    integer(c_int64_t) :: transfers, transfers_direct, transfers_again, transfer_fallbacks
    integer(c_int64_t) :: accesses, bytes_overwritten, bytes_from_memory, bytes_sieved
    integer(c_int64_t) :: iterations_limit, iterations_peak
  end type

  ! The durations of an operation, in seconds: tailrace_times of tailrace.h, member by member.
  type, bind(C) :: tailrace_times
    integer(c_int64_t) :: count = 0
    real(c_double) :: total, mean, p50, p90, p99, most
  end type

  ! The counters of one variable: tailrace_variable_stats of tailrace.h, member by member.
  type, bind(C) :: tailrace_variable_stats
    integer(c_size_t) :: struct_size = 0
    integer(c_int64_t) :: blocks_accepted, blocks_written, blocks_failed, blocks_refused, blocks_written_through
    integer(c_int64_t) :: blocks_merged
    integer(c_int64_t) :: bytes_accepted, bytes_written
    type(tailrace_times) :: handover, waiting, queued, writing
    integer(c_int64_t) :: chunks_filtered, chunks_relaxed, chunks_skipped
    integer(c_int64_t) :: bytes_filtered, bytes_stored
    type(tailrace_times) :: filtering
  end type

  ! A private copy of tailrace.h's type.
  type, bind(C) :: c_parameter
    type(c_ptr) :: name
    integer(c_int64_t) :: value
  end type

  type, bind(C) :: c_real_parameter
    type(c_ptr) :: name
    real(c_double) :: value
  end type

  type, bind(C) :: c_options
    integer(c_size_t) :: struct_size = 0
    type(c_ptr) :: config_text = c_null_ptr, path = c_null_ptr, parameters = c_null_ptr
    integer(c_size_t) :: parameter_count = 0
    type(c_ptr) :: python_environment = c_null_ptr, files = c_null_ptr
    integer(c_int) :: flush_waits = 0
    type(c_ptr) :: real_parameters = c_null_ptr
    integer(c_size_t) :: real_parameter_count = 0
  end type

  type, bind(C) :: c_error
    integer(c_size_t) :: struct_size
    integer(c_int) :: status, earlier, system_errno
    integer(c_int64_t) :: iteration, more
    type(c_ptr) :: operation, file, variable, message
  end type

  interface
    integer(c_int) function c_open(config, client, options, out) bind(C, name="tailrace_open_with")
      import
      character(kind=c_char), intent(in) :: config(*)
      integer(c_int), value :: client
      type(c_options), intent(in) :: options
      type(c_ptr), intent(out) :: out
    end function
    integer(c_int) function c_close(client) bind(C, name="tailrace_close")
      import
      type(c_ptr), value :: client
    end function
    integer(c_int) function c_write(client, variable, iteration, data) bind(C, name="tailrace_fortran_write")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      type(*), intent(in) :: data(..)
    end function
    integer(c_int) function c_borrow(client, variable, iteration, data, ticket) &
        bind(C, name="tailrace_fortran_borrow")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      type(*), intent(in) :: data(..)
      type(tailrace_ticket), intent(out) :: ticket
    end function
    integer(c_int) function c_read(client, variable, iteration, data) bind(C, name="tailrace_fortran_read")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      type(*), intent(inout) :: data(..)
    end function
    integer(c_int) function c_commit(client, variable, iteration) bind(C, name="tailrace_commit")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
    end function
    integer(c_int) function c_end_iteration(client, iteration, time, dt) bind(C, name="tailrace_end_iteration_at")
      import
      type(c_ptr), value :: client
      integer(c_int64_t), value :: iteration
      real(c_double), value :: time, dt
    end function
    integer(c_int) function c_attribute(client, variable, iteration, name, kind, count, data) &
        bind(C, name="tailrace_attribute")
      import
      type(c_ptr), value :: client, variable
      integer(c_int64_t), value :: iteration
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: kind
      integer(c_size_t), value :: count
      type(c_ptr), intent(in) :: data(*)
    end function
    integer(c_int) function c_attribute_of(client, variable, iteration, name, value) &
        bind(C, name="tailrace_fortran_attribute")
      import
      type(c_ptr), value :: client, variable
      integer(c_int64_t), value :: iteration
      character(kind=c_char), intent(in) :: name(*)
      type(*), intent(in) :: value(..)
    end function
    integer(c_int) function c_signal(client, event, iteration) bind(C, name="tailrace_signal")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: event(*)
      integer(c_int64_t), value :: iteration
    end function
    integer(c_int) function c_wait(ticket, timeout_ms) bind(C, name="tailrace_wait")
      import
      type(tailrace_ticket), value :: ticket
      integer(c_int64_t), value :: timeout_ms
    end function
    integer(c_int) function c_test(ticket, ended) bind(C, name="tailrace_test")
      import
      type(tailrace_ticket), value :: ticket
      integer(c_int), intent(out) :: ended
    end function
    integer(c_int) function c_set_parameters(client, parameters, count) bind(C, name="tailrace_set_parameters")
      import
      type(c_ptr), value :: client
      type(c_parameter), intent(in) :: parameters(*)
      integer(c_size_t), value :: count
    end function
    integer(c_int) function c_set_real_parameters(client, parameters, count) &
        bind(C, name="tailrace_set_real_parameters")
      import
      type(c_ptr), value :: client
      type(c_real_parameter), intent(in) :: parameters(*)
      integer(c_size_t), value :: count
    end function
    integer(c_int) function c_enable(client, variable, on) bind(C, name="tailrace_enable")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int), value :: on
    end function
    integer(c_int) function c_last_iteration(client, iteration) bind(C, name="tailrace_last_iteration")
      import
      type(c_ptr), value :: client
      integer(c_int64_t), intent(out) :: iteration
    end function
    integer(c_int) function c_last_time(client, time) bind(C, name="tailrace_last_time")
      import
      type(c_ptr), value :: client
      real(c_double), intent(out) :: time
    end function
    integer(c_int) function c_flush(client) bind(C, name="tailrace_flush")
      import
      type(c_ptr), value :: client
    end function
    integer(c_int) function c_get_stats(client, stats) bind(C, name="tailrace_get_stats")
      import
      type(c_ptr), value :: client
      type(tailrace_statistics), intent(inout) :: stats
    end function
    integer(c_int) function c_get_variable_stats(client, variable, stats) &
        bind(C, name="tailrace_get_variable_stats")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      type(tailrace_variable_stats), intent(inout) :: stats
    end function
    integer(c_int) function c_describe(client, text) bind(C, name="tailrace_describe")
      import
      type(c_ptr), value :: client
      type(c_ptr), intent(out) :: text
    end function
    integer(c_int) function c_last_error(client, error) bind(C, name="tailrace_last_error")
      import
      type(c_ptr), value :: client
      type(c_error), intent(inout) :: error
    end function
    type(c_ptr) function c_status_text(status) bind(C, name="tailrace_status_text")
      import
      integer(c_int), value :: status
    end function
    type(c_ptr) function c_version() bind(C, name="tailrace_version")
      import
    end function
    integer(c_size_t) function c_strlen(text) bind(C, name="strlen")
      import
      type(c_ptr), value :: text
    end function
  end interface

  ! Variants with a declared type.
  interface
    integer(c_int) function c_write_long_double(client, variable, iteration, data) &
        bind(C, name="tailrace_fortran_write")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      real(c_long_double), intent(in) :: data(..)
    end function
    integer(c_int) function c_borrow_long_double(client, variable, iteration, data, ticket) &
        bind(C, name="tailrace_fortran_borrow")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      real(c_long_double), intent(in) :: data(..)
      type(tailrace_ticket), intent(out) :: ticket
    end function
    integer(c_int) function c_read_long_double(client, variable, iteration, data) &
        bind(C, name="tailrace_fortran_read")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      real(c_long_double), intent(inout) :: data(..)
    end function
  end interface

  ! tailrace_fortran_alloc for each type of pointer.
  interface
    integer(c_int) function c_alloc_int8(client, variable, iteration, data) &
        bind(C, name="tailrace_fortran_alloc")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      integer(c_int8_t), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function c_alloc_int16(client, variable, iteration, data) &
        bind(C, name="tailrace_fortran_alloc")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      integer(c_int16_t), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function c_alloc_int32(client, variable, iteration, data) &
        bind(C, name="tailrace_fortran_alloc")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      integer(c_int32_t), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function c_alloc_int64(client, variable, iteration, data) &
        bind(C, name="tailrace_fortran_alloc")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      integer(c_int64_t), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function c_alloc_float32(client, variable, iteration, data) &
        bind(C, name="tailrace_fortran_alloc")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      real(c_float), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function c_alloc_float64(client, variable, iteration, data) &
        bind(C, name="tailrace_fortran_alloc")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      real(c_double), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function c_alloc_bool(client, variable, iteration, data) &
        bind(C, name="tailrace_fortran_alloc")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      logical(c_bool), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function c_alloc_complex64(client, variable, iteration, data) &
        bind(C, name="tailrace_fortran_alloc")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      complex(c_float_complex), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function c_alloc_complex128(client, variable, iteration, data) &
        bind(C, name="tailrace_fortran_alloc")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      complex(c_double_complex), pointer, intent(inout) :: data(..)
    end function
    integer(c_int) function c_alloc_long_double(client, variable, iteration, data) &
        bind(C, name="tailrace_fortran_alloc")
      import
      type(c_ptr), value :: client
      character(kind=c_char), intent(in) :: variable(*)
      integer(c_int64_t), value :: iteration
      real(c_long_double), pointer, intent(inout) :: data(..)
    end function
  end interface

end module tailrace_interface
