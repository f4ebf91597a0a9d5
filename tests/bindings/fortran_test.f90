! Tests of the Fortran module: each verb, each type and rank, and its messages on errors. With the argument `stop` it
! shows that a failure without `status` ends the program.
program fortran_test
  use, intrinsic :: iso_c_binding, only: c_bool, c_int, c_long_double
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64, error_unit
  use tailrace
  implicit none
  character(*), parameter :: lf = new_line("a")
  character(*), parameter :: config = "tailrace: 1" // lf // "name: fortran" // lf // &
    "storage: {existing: continue}" // lf // &
    "memory: {budget: 1 MiB, when_full: drop}" // lf // "layouts:" // lf // &
    "  plane: {type: float64, shape: [ny, nx]}" // lf // "  bytes: {type: int8, shape: [5]}" // lf // &
    "  shorts: {type: int16, shape: [2, 3]}" // lf // "  words: {type: int32, shape: [2, 3, 4]}" // lf // &
    "  longs: {type: int64, shape: [2, 3, 4, 5]}" // lf // "  floats: {type: float32, shape: [2, 3]}" // lf // &
    "  wide: {type: long_double, shape: [3]}" // lf // "  large: {type: float64, shape: [65536]}" // lf // &
    "variables:" // lf // "  plane: {layout: plane}" // lf // "  other: {layout: plane}" // lf // &
    "  lent: {layout: plane}" // lf // "  bytes: {layout: bytes}" // lf // "  shorts: {layout: shorts}" // lf // &
    "  words: {layout: words}" // lf // "  longs: {layout: longs}" // lf // "  floats: {layout: floats}" // lf // &
    "  wide: {layout: wide}" // lf // "  a: {layout: large}" // lf // "  b: {layout: large}" // lf // &
    "  c: {layout: large}" // lf
  character(8) :: argument
  integer :: failures = 0

  call get_command_argument(1, argument)
  if (argument == "stop") call stops()
  call opening()
  call types_and_ranks()
  call times_and_attributes()
  call verbs()
  call changes()
  call refusals()
  call dropping()
  if (failures > 0) error stop "fortran_test: failed"
  print *, "fortran_test: ok"

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    write (error_unit, *) "failed: ", what
    failures = failures + 1
  end subroutine

  subroutine open_test(out)
    type(tailrace_client), intent(inout) :: out
    call out%open("fortran.yaml", client=0, text=config, path=".", parameter_names=["nx", "ny"], &
                  parameter_values=[6_int64, 4_int64])
  end subroutine

  subroutine stops()
    type(tailrace_client) :: out
    call out%open("missing.yaml")
  end subroutine

  ! The tests in Python look at the file.
  subroutine times_and_attributes()
    type(tailrace_client) :: out
    character(*), parameter :: model = "tailrace: 1" // lf // "name: times" // lf // &
      "storage: {existing: replace}" // lf // "memory: {budget: 1 MiB}" // lf // "parameters: {left: 0.5}" // lf // &
      "layouts:" // lf // "  flags: {type: bool, shape: [3]}" // lf // &
      "  waves: {type: complex128, shape: [2]}" // lf // &
      "  narrow: {type: complex64, shape: [2]}" // lf // "  one: {type: float64, shape: []}" // lf // &
      "  deep: {type: int32, shape: [2, 1, 1, 3, 1, 2]}" // lf // &
      "  line: {type: float64, shape: [nx], origin: [left], spacing: [dx]}" // lf // &
      "variables: {flags: {layout: flags}, E: {layout: waves, components: [x, y]}, narrow: {layout: narrow}, " // &
      "energy: {layout: one}, deep: {layout: deep}, line: {layout: line}}" // lf // &
      "particles: {ions: {records: {position: {layout: line, components: [x]}}}}" // lf
    logical(c_bool) :: flags(3) = [.true._c_bool, .false._c_bool, .true._c_bool], flags_back(3)
    complex(real64) :: waves(2) = [(1.0_real64, 2.0_real64), (3.0_real64, -4.0_real64)], waves_back(2)
    complex(real32) :: narrow(2) = [(1.0, 2.0), (3.0, -4.0)], narrow_back(2)
    complex(real64), pointer :: built(:)
    integer(int32) :: deep(2, 1, 3, 1, 1, 2) = 7, deep_back(2, 1, 3, 1, 1, 2)
    real(real64) :: energy_back
    integer(c_int) :: status
    call out%open("times.yaml", client=0, text=model, path=".", parameter_names=["nx"], parameter_values=[4_int64], &
                  real_names=["dx"], real_values=[0.25_real64])
    call out%write("flags", 0, flags)
    call out%write("E/x", 0, waves)
    call out%alloc("E/y", 0, built)
    built = 2 * waves
    call out%commit("E/y", 0)
    call out%write("narrow", 0, narrow)
    call out%write("energy", 0, 2.5_real64)
    call out%write("deep", 0, deep)
    call out%set_parameters(["left"], [1.5_real64])
    call out%write("line", 0, [1.0_real64, 2.0_real64, 3.0_real64, 4.0_real64])
    call out%write("ions/position/x", 0, [1.0_real64, 2.0_real64, 3.0_real64, 4.0_real64])
    call out%attribute(0, "scheme", "leap-frog ")
    call out%attribute(0, "order", 2)
    call out%attribute(0, "residuals", [0.5_real64, 0.25_real64])
    call out%attribute(0, "long_name", "the wave", variable="line")
    call out%attribute(0, "factor", 1.5, variable="line")
    call out%attribute(0, "time", 1.0, status=status)
    call expect(status == tailrace_invalid_argument, "time is set by end_iteration")
    call out%end_iteration(0, time=12.5_real64, dt=0.125_real64)
    call out%read("flags", 0, flags_back)
    call out%read("E/x", 0, waves_back)
    call out%read("narrow", 0, narrow_back)
    call out%read("deep", 0, deep_back)
    call out%read("energy", 0, energy_back)
    call expect(all(flags .eqv. flags_back) .and. all(waves == waves_back), "bool and complex128 read back")
    call expect(all(narrow == narrow_back) .and. all(deep == deep_back), "complex64 and rank 6 read back")
    call expect(energy_back == 2.5_real64, "a scalar reads back")
    call out%close()
  end subroutine

  subroutine opening()
    type(tailrace_client) :: out, second
    type(tailrace_failure) :: failure
    integer(c_int) :: status
    call out%open("missing.yaml", status=status)
    call out%last_error(failure)
    call expect(status == tailrace_io_error .and. failure%status == status, "a missing file is an I/O error")
    call expect(failure%system_errno == 2 .and. index(out%message(), "missing.yaml") > 0, "that names the file")
    call open_test(out)
    call second%open("fortran.yaml", text=config, path=".", parameter_names=["nx", "ny"], &
                     parameter_values=[6_int64, 4_int64], status=status)
    call expect(status == tailrace_client_in_use, "a client cannot be opened twice")
    call expect(len(out%describe()) > 0 .and. tailrace_version() == "0.1.0", "it describes itself")
    call out%close()
    call out%close(status)
    call expect(status == tailrace_closed .and. index(out%message(), "closed") > 0, "it knows that it is closed")
  end subroutine

  subroutine types_and_ranks()
    type(tailrace_client) :: out
    integer(int8) :: bytes(5) = [1_int8, 2_int8, 3_int8, -4_int8, 127_int8], bytes_back(5)
    integer(int16) :: shorts(3, 2), shorts_back(3, 2)
    integer(int32) :: words(4, 3, 2), words_back(4, 3, 2), i
    integer(int64) :: longs(5, 4, 3, 2), longs_back(5, 4, 3, 2)
    real(real32) :: floats(3, 2), floats_back(3, 2)
    real(c_long_double) :: wide(3), wide_back(3)
    integer(int8), pointer :: p1(:)
    integer(int16), pointer :: p2(:, :)
    integer(int32), pointer :: p3(:, :, :)
    integer(int64), pointer :: p4(:, :, :, :)
    real(real32), pointer :: pf(:, :)
    real(c_long_double), pointer :: pw(:)
    words = reshape([(i, i = 1, 24)], [4, 3, 2])
    longs = reshape([(2_int64**40 + i, i = 1, 120)], [5, 4, 3, 2])
    shorts = reshape([(int(i, int16), i = 1, 6)], [3, 2])
    floats = shorts / 3.0
    wide = [1.0_c_long_double, 2.0_c_long_double, 3.0_c_long_double] / 7
    call open_test(out)
    call out%write("bytes", 0, bytes)
    call out%write("shorts", 0, shorts)
    call out%write("words", 0, words)
    call out%write("longs", 0, longs)
    call out%write("floats", 0, floats)
    call out%write_long_double("wide", 0, wide)
    call out%read("bytes", 0, bytes_back)
    call out%read("shorts", 0, shorts_back)
    call out%read("words", 0, words_back)
    call out%read("longs", 0, longs_back)
    call out%read("floats", 0, floats_back)
    call out%read_long_double("wide", 0, wide_back)
    call expect(all(bytes == bytes_back) .and. all(shorts == shorts_back), "int8 and int16 read back")
    call expect(all(words == words_back) .and. all(longs == longs_back), "int32 and int64 read back")
    call expect(all(floats == floats_back) .and. all(wide == wide_back), "float32 and long double read back")
    call out%end_iteration(0)
    call out%alloc("bytes", 1, p1)
    call out%alloc("shorts", 1, p2)
    call out%alloc("words", 1, p3)
    call out%alloc("longs", 1, p4)
    call out%alloc("floats", 1, pf)
    call out%alloc("wide", 1, pw)
    call expect(all(shape(p4) == [5, 4, 3, 2]) .and. all(lbound(p4) == 1), "pointers have Fortran's shape and bounds")
    p1 = bytes
    p2 = shorts
    p3 = words
    p4 = longs
    pf = floats
    pw = wide
    call out%commit("bytes", 1)
    call out%commit("shorts", 1)
    call out%commit("words", 1)
    call out%commit("longs", 1)
    call out%commit("floats", 1)
    call out%commit("wide", 1)
    call out%read("longs", 1, longs_back)
    call out%read_long_double("wide", 1, wide_back)
    call expect(all(longs == longs_back) .and. all(wide == wide_back), "what was built in place reads back")
    call out%end_iteration(1)
    call out%close()
  end subroutine

  subroutine verbs()
    type(tailrace_client) :: out
    type(tailrace_ticket) :: ticket
    type(tailrace_statistics) :: stats
    type(tailrace_variable_stats) :: of
    integer(c_int) :: status
    real(real64), target :: plane(6, 4), back(6, 4)
    real(real64), allocatable :: section(:, :)
    logical :: ended
    call random_number(plane)
    allocate (section(6, 8))
    section = 1
    call open_test(out)
    call out%write("plane", 2_int64, plane)
    call out%write("other", 2, section(:, 3:6))
    call out%borrow("lent", 2, plane, ticket)
    call out%signal("storm", 2)
    call out%end_iteration(2)
    call out%wait(ticket)
    call out%test(ticket, ended)
    call expect(ended, "a ticket that was waited for has ended")
    call out%wait(ticket, timeout_ms=0)
    call out%flush()
    call out%read("lent", 2, back)
    call expect(all(back == plane), "what was lent reads back")
    call out%read("other", 2, back)
    call expect(all(back == 1), "a contiguous section reads back")
    call out%stats(stats)
    call expect(stats%blocks_accepted == 3 .and. stats%blocks_written == 3, "the statistics count blocks")
    call expect(stats%bytes_written == 3 * 24 * 8 .and. stats%signals == 1, "and bytes, and signals")
    call expect(stats%memory_budget == 2**20 .and. stats%iterations_published == 1, "and iterations")
    call expect(stats%transfers >= 3 .and. stats%requests_peak >= 1, "and transfers")
    call expect(stats%transfers_direct <= stats%transfers .and. stats%transfer_fallbacks >= 0, "as in the header")
    call out%variable_stats("lent", of)
    call expect(of%blocks_accepted == 1 .and. of%blocks_written == 1, "the statistics of a variable count its blocks")
    call expect(of%blocks_failed == 0 .and. of%blocks_refused == 0, "as they went")
    call expect(of%blocks_written_through == 0 .and. of%blocks_merged <= 1, "each in its way")
    call expect(of%bytes_accepted == 24 * 8 .and. of%bytes_written == 24 * 8, "and its bytes")
    call expect(of%handover%count == 1 .and. of%handover%total > 0, "and time its hand-over")
    call expect(of%queued%count == 1 .and. of%writing%count == 1, "and its way")
    call expect(of%writing%p50 == of%writing%most .and. of%writing%mean == of%writing%total, "one is all")
    call expect(of%waiting%count >= 1, "reading is waiting")
    call out%variable_stats("plane ", of)
    call expect(of%waiting%count == 0 .and. of%waiting%most == 0, "what never happened took no time")
    call out%variable_stats("plain", of, status)
    call expect(status == tailrace_unknown_variable .and. index(out%message(), "plain") > 0, "unknown names are told")
    call out%close()
  end subroutine

  subroutine changes()
    type(tailrace_client) :: out
    integer(c_int) :: status
    real(real64) :: plane(6, 4), smaller(2, 3), none(0, 3), back(2, 3)
    real(real64), pointer :: p2(:, :)
    plane = 1
    smaller = 2
    call open_test(out)
    call out%write("plane", 0, plane)
    call out%set_parameters(["ny", "nx"], [3_int64, 2_int64])
    call out%write("plane", 0, plane, status)
    call expect(status == tailrace_wrong_shape, "the shape has followed the parameters")
    call out%write("other", 0, smaller)
    call out%read("other", 0, back)
    call expect(all(back == 2), "a block of another size reads back")
    call out%set_parameters(["nx"], [0_int64])
    call out%write("lent", 0, none)
    call out%alloc("other", 1, p2)
    call expect(all(shape(p2) == [0, 3]), "0 is a length")
    call out%commit("other", 1)
    call out%set_parameters(["nx ", "nxx"], [1_int64, 1_int64], status)
    call expect(status == tailrace_invalid_argument .and. index(out%message(), "'nxx'") > 0, "parameters are there")
    call out%enable("plane", .false.)
    call out%write("plane", 1, none)
    call out%enable("plane", .true., status)
    call expect(status == tailrace_ok, "variables are switched")
    call out%end_iteration(0)
    call out%end_iteration(1)
    call out%close()
  end subroutine

  subroutine refusals()
    type(tailrace_client) :: out
    type(tailrace_failure) :: failure
    type(tailrace_ticket) :: ticket
    real(real64) :: plane(6, 4), turned(4, 6), wide(12, 4)
    real(real32) :: single(6, 4)
    complex(real64) :: numbers(6, 4)
    real(real64), pointer :: p2(:, :), p1(:), p3(:, :, :)
    real(real32), pointer :: ps(:, :)
    integer(c_int) :: status
    plane = 0
    turned = 0
    wide = 0
    single = 0
    numbers = 0
    call open_test(out)
    call out%write("plane", 0, single, status)
    call expect(status == tailrace_wrong_type, "real32 is not float64")
    call out%write("plane", 0, numbers, status)
    call expect(status == tailrace_wrong_type .and. index(out%message(), "complex128") > 0, "complex is not float64")
    call out%write("wide", 0, [1.0_c_long_double, 2.0_c_long_double, 3.0_c_long_double], status)
    call expect(status == tailrace_wrong_type .and. index(out%message(), "write_long_double") > 0, "nor long double")
    call out%write("plane", 0, turned, status)
    call expect(status == tailrace_wrong_shape .and. index(out%message(), "plane") > 0, "a turned array is refused")
    call expect(index(out%message(), "the reverse of Fortran's") > 0, "and the order of the shapes is said")
    call out%write("plane", 0, plane(1, 1), status)
    call expect(status == tailrace_wrong_shape, "a scalar is refused")
    call out%write("plane", 0, wide(1:12:2, :), status)
    call expect(status == tailrace_invalid_argument .and. index(out%message(), "contiguous") > 0, "gaps are refused")
    call out%last_error(failure)
    call expect(failure%status == tailrace_invalid_argument .and. .not. failure%earlier, "and last_error says so")
    call out%borrow("plane", 0, turned, ticket, status)
    call expect(status == tailrace_wrong_shape, "borrow checks, too")
    call out%read("plane", 0, turned, status)
    call expect(status == tailrace_wrong_shape, "and read")
    call out%read("plane", 9, plane, status)
    call expect(status == tailrace_not_found, "what was never written is not found")
    call out%write("plain", 0, plane, status)
    call expect(status == tailrace_unknown_variable, "unknown names are refused")
    call expect(index(out%message(), "plain") > 0, "and named")
    call out%write("plane", 1.0, plane, status)
    call expect(status == tailrace_invalid_argument, "an iteration is an integer")
    call out%alloc("plane", 0, p1, status)
    call expect(status == tailrace_wrong_shape .and. .not. associated(p1), "a pointer of rank 1 is refused")
    call out%alloc("plane", 0, p3, status)
    call expect(status == tailrace_wrong_shape .and. .not. associated(p3), "and one of rank 3")
    call out%alloc("plane", 0, ps, status)
    call expect(status == tailrace_wrong_type .and. .not. associated(ps), "and one of another type")
    call out%commit("plane", 0, status)
    call expect(status == tailrace_wrong_order, "commit comes after alloc")
    call out%alloc("plane", 0, p2, status)
    call expect(status == tailrace_ok .and. associated(p2), "the right pointer is taken")
    call out%commit("plane", 0)
    call out%write("other", 0, plane, status)
    call expect(status == tailrace_ok, "and nothing of all that has done harm")
    call out%close(status)
    call expect(status == tailrace_earlier_failure, "an iteration that was not ended is told at close")
    call out%last_error(failure)
    call expect(failure%earlier .and. failure%iteration == 0, "with its number")
    call expect(failure%status == tailrace_not_published .and. len(failure%message) > 0, "and its reason")
  end subroutine

  subroutine dropping()
    type(tailrace_client) :: out
    type(tailrace_ticket) :: ticket
    real(real64), allocatable, target :: block(:)
    real(real64), pointer :: a(:), b(:), c(:)
    real(real64), target :: plane(6, 4)
    integer(c_int) :: status
    logical :: ended
    allocate (block(65536))
    block = 1
    plane = 1
    call open_test(out)
    call out%alloc("a", 3, a)
    call out%alloc("b", 3, b)
    call out%write("c", 4, block, status)
    call expect(status == tailrace_dropped, "a full budget drops the iteration")
    call out%write("c", 4, block)  ! without status: no reason to stop
    call out%alloc("c", 4, c, status)
    call expect(status == tailrace_dropped .and. .not. associated(c), "and hands out nothing for it")
    call out%borrow("plane", 4, plane, ticket, status)
    call expect(status == tailrace_dropped, "and borrows nothing")
    call out%test(ticket, ended)
    call expect(ended, "so that there is nothing to wait for")
    call out%end_iteration(4, status=status)
    call expect(status == tailrace_dropped, "and says so at its end")
    a = 1
    b = 2
    call out%commit("a", 3)
    call out%commit("b", 3)
    call out%end_iteration(3)
    call out%close()
  end subroutine

end program
