// tailrace.hpp: the C++ interface of tailrace: RAII, spans and exceptions over tailrace.h, and nothing else.
//
// Header-only, C++20. It needs tailrace.h beside it, and libtailrace to link with. It contains no logic: the C
// interface makes every check, and its conventions hold here too. In particular:
//  - One thread at a time uses a Client (any thread); different clients are independent.
//  - In a child of fork(), each call on an object of the parent throws Error (TAILRACE_FORKED); their destructors do
//    nothing there.
//  - Every failure is a tailrace::Error. If earlier() is true, an earlier accepted request has failed: the call that
//    threw *has been carried out* and must not be repeated.
//  - `when_full: drop` is not a failure: the verbs return false (or an empty span, or an empty ticket) for a block of
//    an iteration that was dropped.
#ifndef TAILRACE_TAILRACE_HPP
#define TAILRACE_TAILRACE_HPP

#if !defined(__cpp_concepts) || __cpp_concepts < 201907L
#error "tailrace.hpp needs C++20: compile with -std=c++20 (CMake: CMAKE_CXX_STANDARD 20)"
#endif

#include <tailrace/tailrace.h>

#include <chrono>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tailrace {

/// A client's counters so far; see tailrace_stats for each member.
using Stats = tailrace_stats;
/// The same for one variable; see tailrace_variable_stats and tailrace_times.
using VariableStats = tailrace_variable_stats;
/// The same for one raw file; see tailrace_file_stats and tailrace_sizes.
using FileStats = tailrace_file_stats;

/// A number of IEEE 754's half precision, by its bits.
struct Half {
  uint16_t bits;
};

/// C++ types that a variable may have: integers of 8 to 64 bits (not character types), bool, Half, float, double,
/// long double, std::complex<float> and std::complex<double>.
template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, long double> ||
    std::same_as<T, Half> || std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>> ||
    (std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
     !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>);

/// A contiguous range of elements: std::vector, std::array, std::span, a C array.
template <class R>
concept Block = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    Element<std::remove_cv_t<std::ranges::range_value_t<R>>>;

/// Returns tailrace's element type for T.
template <Element T>
constexpr tailrace_type type_of() {
  if constexpr (std::same_as<T, float>) return TAILRACE_FLOAT32;
  if constexpr (std::same_as<T, double>) return TAILRACE_FLOAT64;
  if constexpr (std::same_as<T, long double>) return TAILRACE_LONG_DOUBLE;
  if constexpr (std::same_as<T, bool>) return TAILRACE_BOOL;
  if constexpr (std::same_as<T, Half>) return TAILRACE_FLOAT16;
  if constexpr (std::same_as<T, std::complex<float>>) return TAILRACE_COMPLEX64;
  if constexpr (std::same_as<T, std::complex<double>>) return TAILRACE_COMPLEX128;
  if constexpr (std::unsigned_integral<T>) {
    return sizeof(T) == 1   ? TAILRACE_UINT8
           : sizeof(T) == 2 ? TAILRACE_UINT16
           : sizeof(T) == 4 ? TAILRACE_UINT32
                            : TAILRACE_UINT64;
  }
  return sizeof(T) == 1   ? TAILRACE_INT8
         : sizeof(T) == 2 ? TAILRACE_INT16
         : sizeof(T) == 4 ? TAILRACE_INT32
                          : TAILRACE_INT64;
}

namespace detail {

// The contents of an Error. Copies of an exception share them, so that copying cannot throw.
struct Failure {
  tailrace_status status = TAILRACE_OK;
  bool earlier = false;
  int system_errno = 0;
  int64_t iteration = -1;
  uint64_t more = 0;
  std::string operation, file, variable, message;
  tailrace_ticket ticket{};
  void* memory = nullptr;
  std::vector<Failure> others;
};

inline Failure failure_of(const tailrace_error& error) {
  Failure failure;
  failure.status = error.status;
  failure.earlier = error.earlier != 0;
  failure.system_errno = error.system_errno;
  failure.iteration = error.iteration;
  failure.more = error.more;
  failure.operation = error.operation ? error.operation : "";
  failure.file = error.file ? error.file : "";
  failure.variable = error.variable ? error.variable : "";
  failure.message = error.message ? error.message : "";
  return failure;
}

// Copies the last error of `client` after a call that returned `status`. After TAILRACE_BUSY another thread is inside
// the client, and the last error belongs to that thread.
inline Failure last_failure(tailrace_client* client, tailrace_status status) {
  Failure failure;
  tailrace_error error{};
  error.struct_size = sizeof error;
  const bool known = status != TAILRACE_BUSY && tailrace_last_error(client, &error) == TAILRACE_OK;
  if (known && error.status != TAILRACE_OK) failure = failure_of(error);
  if (failure.status == TAILRACE_OK) failure.status = status;
  if (failure.message.empty()) failure.message = tailrace_status_text(failure.status);
  return failure;
}

// Returns the failure of a close, together with the others that were unreported.
inline Failure failure_of_close(tailrace_client* client, tailrace_status status) {
  Failure failure = last_failure(client, status);
  tailrace_error error{};
  error.struct_size = sizeof error;
  while (status == TAILRACE_EARLIER_FAILURE && tailrace_next_error(client, &error) == TAILRACE_OK &&
         error.status != TAILRACE_OK) {
    failure.others.push_back(failure_of(error));
  }
  return failure;
}

}  // namespace detail

/// A failure with all its details: of the call that threw it, or (earlier() true) of an earlier accepted request.
class Error : public std::exception {
 public:
  explicit Error(detail::Failure failure) : failure_(std::make_shared<const detail::Failure>(std::move(failure))) {}

  /// One or more sentences that need no context.
  const char* what() const noexcept override { return failure_->message.c_str(); }
  /// The cause; never TAILRACE_EARLIER_FAILURE.
  tailrace_status status() const noexcept { return failure_->status; }
  /// "write", "open", "publish", …
  const std::string& operation() const noexcept { return failure_->operation; }
  /// "" if no file is involved; the same for variable().
  const std::string& file() const noexcept { return failure_->file; }
  const std::string& variable() const noexcept { return failure_->variable; }
  /// -1 where it does not apply.
  int64_t iteration() const noexcept { return failure_->iteration; }
  /// errno of the operating system, or 0.
  int system_errno() const noexcept { return failure_->system_errno; }
  /// True: the call that threw was carried out; a request accepted earlier has failed.
  bool earlier() const noexcept { return failure_->earlier; }
  /// Further failures that no call has reported yet.
  uint64_t more() const noexcept { return failure_->more; }
  /// If borrow() or iflush() threw with earlier() true: the ticket that it would have returned. Otherwise zeroed.
  tailrace_ticket ticket() const noexcept { return failure_->ticket; }
  /// If alloc() threw with earlier() true: the memory of the block, as long as it would have returned. Otherwise
  /// null.
  void* memory() const noexcept { return failure_->memory; }
  /// If Client::close() threw: the other unreported failures, oldest first. Otherwise empty.
  std::vector<Error> others() const { return {failure_->others.begin(), failure_->others.end()}; }

 private:
  std::shared_ptr<const detail::Failure> failure_;
};

namespace detail {

[[noreturn]] inline void fail(tailrace_client* client, tailrace_status status) {
  throw Error(last_failure(client, status));
}

inline void check(tailrace_client* client, tailrace_status status) {
  if (status != TAILRACE_OK) fail(client, status);
}

// Returns false if the iteration was dropped. For the verbs that may drop.
inline bool accepted(tailrace_client* client, tailrace_status status) {
  if (status == TAILRACE_DROPPED) return false;
  check(client, status);
  return true;
}

}  // namespace detail

/// A handle on one borrowed block. A plain value: copy or discard it. It is valid until its client is closed.
class Ticket {
 public:
  /// An empty ticket: nothing was lent, and there is nothing to wait for.
  Ticket() = default;
  explicit Ticket(tailrace_ticket ticket) : ticket_(ticket) {}

  /// False for an empty ticket, which borrow() returns if nothing is lent.
  explicit operator bool() const noexcept { return ticket_.client != nullptr; }

  /// Waits until the block has been written. Throws Error if it could not be written. In both cases its memory
  /// belongs to the caller again. May be called more than once.
  void wait() const { detail::check(ticket_.client, tailrace_wait(ticket_, -1)); }

  /// Waits for at most `timeout`. Returns false if the block is still lent then.
  bool wait(std::chrono::milliseconds timeout) const {
    const int64_t most = timeout.count() < 0 ? 0 : static_cast<int64_t>(timeout.count());
    const tailrace_status status = tailrace_wait(ticket_, most);
    if (status == TAILRACE_TIMEOUT) return false;
    detail::check(ticket_.client, status);
    return true;
  }

  /// Returns true if the request has ended, without waiting. Throws Error if it has failed.
  bool test() const {
    int ended = 0;
    detail::check(ticket_.client, tailrace_test(ticket_, &ended));
    return ended != 0;
  }

 private:
  tailrace_ticket ticket_{};
};

/// `length` bytes of a file, from `offset` on.
using Extent = tailrace_extent;

/// How to open a raw file: to read an existing one; to read and write, creating it if necessary; the same, and
/// emptying it; and these two with writes that are not held back to be merged.
enum class FileMode {
  read = TAILRACE_FILE_READ,
  write = TAILRACE_FILE_WRITE,
  truncate = TAILRACE_FILE_WRITE | TAILRACE_FILE_TRUNCATE,
  write_immediate = write | TAILRACE_FILE_IMMEDIATE,
  truncate_immediate = truncate | TAILRACE_FILE_IMMEDIATE
};

/// A contiguous range of plain bytes, as raw files take and return them.
template <class R>
concept RawBytes = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;

/// A raw file of a client, in the program's own format; made by Client::open_file(). Movable, not copyable. One
/// thread at a time uses it together with its client. It must end before its client.
///
/// Call close() to get unreported failures; the destructor closes too, but can only print them.
class File {
 public:
  /// A file that is not open: every call on it throws Error.
  File() = default;
  /// Takes ownership of a file of the C interface.
  explicit File(tailrace_file file) : file_(file), open_(file.client != nullptr) {}
  File(File&& other) noexcept : file_(other.file_), open_(std::exchange(other.open_, false)) {}
  File& operator=(File&& other) noexcept {
    if (this != &other) {
      close_quietly();
      file_ = other.file_;
      open_ = std::exchange(other.open_, false);
    }
    return *this;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close_quietly(); }

  /// Writes all of `data` at `offset`: copies it and returns. The caller may then reuse `data`.
  template <RawBytes R>
  void write(uint64_t offset, const R& data) {
    write(Extent{offset, bytes_in(data)}, data);
  }
  /// Writes the extents (list I/O). `data` contains their bytes, one extent after the other. Throws Error, also if
  /// `data` and the extents differ in size.
  template <RawBytes R>
  void write(std::span<const Extent> extents, const R& data) {
    expect("file_write", extents, bytes_in(data));
    detail::check(file_.client, tailrace_file_write(file_, extents.size(), extents.data(), std::ranges::data(data)));
  }
  /// Fills `data` with the bytes from `offset` on, and waits for them. Sees every earlier write of this client.
  template <RawBytes R>
  void read(uint64_t offset, R&& data) {
    read(Extent{offset, bytes_in(data)}, data);
  }
  /// Does the same for the extents, one after the other.
  template <RawBytes R>
  void read(std::span<const Extent> extents, R&& data) {
    expect("file_read", extents, bytes_in(data));
    detail::check(file_.client, tailrace_file_read(file_, extents.size(), extents.data(), std::ranges::data(data)));
  }
  /// Waits until all earlier writes of this client to the file are on the device.
  void sync() { detail::check(file_.client, tailrace_file_sync(file_)); }
  /// Returns the length in bytes, after all earlier writes of this client.
  uint64_t size() const {
    uint64_t bytes = 0;
    detail::check(file_.client, tailrace_file_size(file_, &bytes));
    return bytes;
  }
  /// Truncates or extends the file to `bytes`; new bytes are 0.
  void truncate(uint64_t bytes) { detail::check(file_.client, tailrace_file_truncate(file_, bytes)); }
  /// Reserves the bytes from `offset` on, and makes the file at least that long.
  void allocate(uint64_t offset, uint64_t bytes) {
    detail::check(file_.client, tailrace_file_allocate(file_, offset, bytes));
  }
  /// Waits until all writes have ended, and closes the file. Throws Error if there are unreported failures; the file
  /// is closed in any case.
  void close() {
    const tailrace_status status = tailrace_file_close(file_);
    if (status != TAILRACE_BUSY) open_ = false;
    detail::check(file_.client, status);
  }

 private:
  template <class R>
  static uint64_t bytes_in(const R& data) {
    return std::ranges::size(data) * sizeof(std::ranges::range_value_t<R>);
  }
  template <class R>
  void write(const Extent& extent, const R& data) {
    write(std::span<const Extent>(&extent, 1), data);
  }
  template <class R>
  void read(const Extent& extent, R& data) {
    read(std::span<const Extent>(&extent, 1), data);
  }
  static void expect(const char* operation, std::span<const Extent> extents, uint64_t bytes) {
    uint64_t rest = bytes;
    for (const Extent& extent : extents) {
      if (extent.length > rest) return refuse(operation, "more bytes", bytes);
      rest -= extent.length;
    }
    if (rest > 0) refuse(operation, "fewer bytes", bytes);
  }
  [[noreturn]] static void refuse(const char* operation, const char* what, uint64_t bytes) {
    detail::Failure failure;
    failure.status = TAILRACE_INVALID_ARGUMENT;
    failure.operation = operation;
    failure.message = std::string(operation) + ": the extents have " + what + " than the memory, which has " +
                      std::to_string(bytes);
    throw Error(std::move(failure));
  }
  void close_quietly() noexcept {
    if (!std::exchange(open_, false)) return;
    const tailrace_status status = tailrace_file_close(file_);
    if (status == TAILRACE_OK || status == TAILRACE_CLOSED) return;  // the client has closed it
    if (status == TAILRACE_FORKED) return;                           // it belongs to the parent
    tailrace_error error{};
    error.struct_size = sizeof error;
    const bool told = status != TAILRACE_BUSY && tailrace_last_error(file_.client, &error) == TAILRACE_OK;
    const char* const message = told && error.message != nullptr ? error.message : tailrace_status_text(status);
    std::fprintf(stderr, "tailrace: while closing a file: %s\n", message);
  }

  tailrace_file file_{};
  bool open_ = false;
};

/// The value of a parameter: an integer, or a real number.
class ParameterValue {
 public:
  template <std::integral T>
  ParameterValue(T value) : value_(static_cast<int64_t>(value)) {}
  template <std::floating_point T>
  ParameterValue(T value) : value_(static_cast<double>(value)) {}
  const std::variant<int64_t, double>& value() const { return value_; }

 private:
  std::variant<int64_t, double> value_;
};

/// Parameters of the configuration, and their values.
using Parameters = std::vector<std::pair<std::string, ParameterValue>>;

/// The time of an iteration, and the time to the next one, in the configuration's unit of time. Not given: as the
/// configuration says.
struct Times {
  std::optional<double> time = {};
  std::optional<double> dt = {};
};

/// Options of open() and check() beyond the configuration file. Empty: as the file says.
struct Options {
  std::string text = {};       ///< the YAML itself instead of a file
  std::string path = {};       ///< replaces `storage.path`
  Parameters parameters = {};  ///< replace or add to `parameters:`
};

namespace detail {

// Parameters as those of C, which borrow from `given`.
struct CParameters {
  explicit CParameters(const Parameters& given) {
    for (const auto& [name, value] : given) {
      if (const auto* whole = std::get_if<int64_t>(&value.value())) wholes.push_back({name.c_str(), *whole});
      if (const auto* real = std::get_if<double>(&value.value())) reals.push_back({name.c_str(), *real});
    }
  }
  std::vector<tailrace_parameter> wholes;
  std::vector<tailrace_real_parameter> reals;
};

// Calls `function` with the options in C's form.
template <class Function>
auto with_options(const Options& options, Function function) {
  const CParameters parameters(options.parameters);
  tailrace_open_options c{};
  c.struct_size = sizeof c;
  c.config_text = options.text.empty() ? nullptr : options.text.c_str();
  c.path = options.path.empty() ? nullptr : options.path.c_str();
  c.parameters = parameters.wholes.data();
  c.parameter_count = parameters.wholes.size();
  c.real_parameters = parameters.reals.data();
  c.real_parameter_count = parameters.reals.size();
  return function(&c);
}

}  // namespace detail

/// One process (or thread) of the application. Movable, not copyable; made by tailrace::open().
///
/// Call close() to get unreported failures; the destructor closes too, but can only print them.
class Client {
 public:
  /// A client that is not open: every call on it throws Error.
  Client() = default;
  /// Takes ownership of a handle of the C interface.
  explicit Client(tailrace_client* handle) : handle_(handle), open_(handle != nullptr) {}
  Client(Client&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), open_(std::exchange(other.open_, false)) {}
  Client& operator=(Client&& other) noexcept {
    if (this != &other) {
      close_quietly();
      handle_ = std::exchange(other.handle_, nullptr);
      open_ = std::exchange(other.open_, false);
    }
    return *this;
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Closes the client unless close() was called. Never throws: prints unreported failures to stderr.
  ~Client() { close_quietly(); }

  /// Hands over a copy of one block (one copy, no I/O); the caller may then reuse `data`. Returns false if the
  /// iteration was dropped. Throws Error, also if the element type or the number of elements differs from the
  /// declared one.
  template <Block R>
  bool write(const std::string& variable, int64_t iteration, const R& data) {
    expect(variable, data);
    return detail::accepted(handle_, tailrace_write(handle_, variable.c_str(), iteration, std::ranges::data(data)));
  }

  /// Hands over a scalar variable's value.
  template <Element T>
  bool write(const std::string& variable, int64_t iteration, const T& value) {
    return write(variable, iteration, std::span<const T>(&value, 1));
  }

  /// Returns memory of the pool in which to build one block without a copy. It belongs to the caller until commit(),
  /// and must not be touched after that, nor after close(). A second alloc() before the commit returns the same
  /// memory. Empty if the iteration was dropped.
  template <Element T>
  std::span<T> alloc(const std::string& variable, int64_t iteration) {
    const tailrace_variable_info info = describe(variable);
    detail::check(handle_, tailrace_expect(handle_, variable.c_str(), type_of<T>(), info.rank, info.shape));
    void* data = nullptr;
    const tailrace_status status = tailrace_alloc(handle_, variable.c_str(), iteration, &data);
    if (status == TAILRACE_DROPPED) return {};
    if (status != TAILRACE_OK) {
      detail::Failure failure = detail::last_failure(handle_, status);
      failure.memory = data;
      throw Error(std::move(failure));
    }
    return {static_cast<T*>(data), static_cast<size_t>(info.bytes / sizeof(T))};
  }

  /// Hands over the block that alloc() returned. Returns false if the iteration was dropped.
  bool commit(const std::string& variable, int64_t iteration) {
    return detail::accepted(handle_, tailrace_commit(handle_, variable.c_str(), iteration));
  }

  /// Lends the caller's own memory: no copy. `data` must stay valid and unchanged until the ticket has ended, or
  /// close() has returned; so temporaries are refused. The ticket is empty if the iteration was dropped or the
  /// variable is off, and nothing is lent.
  template <class R>
  requires Block<std::remove_reference_t<R>> &&
      (std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<std::remove_cvref_t<R>>) [[nodiscard]] Ticket
      borrow(const std::string& variable, int64_t iteration, R&& data) {
    expect(variable, data);
    tailrace_ticket ticket{};
    const tailrace_status status =
        tailrace_borrow(handle_, variable.c_str(), iteration, std::ranges::data(data), &ticket);
    if (status == TAILRACE_OK) return Ticket(ticket);
    if (status == TAILRACE_DROPPED) return {};
    detail::Failure failure = detail::last_failure(handle_, status);
    failure.ticket = ticket;
    throw Error(std::move(failure));
  }

  /// Announces that nothing more comes for `iteration`; its file is completed and published in the background.
  /// Returns false if the iteration was dropped. `times` gives the time of the iteration and the time to the next
  /// one, in the configuration's unit; what it leaves out is as the configuration says.
  bool end_iteration(int64_t iteration, const Times& times = {}) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return detail::accepted(
        handle_, tailrace_end_iteration_at(handle_, iteration, times.time.value_or(none), times.dt.value_or(none)));
  }

  /// Sets an attribute of the iteration: a number, a text, or a range of numbers. Returns false if the iteration was
  /// dropped. See tailrace_attribute.
  template <class T>
  bool attribute(int64_t iteration, const std::string& name, const T& value) {
    return set_attribute(nullptr, iteration, name, value);
  }

  /// Sets an attribute of the variable's dataset in the iteration.
  template <class T>
  bool attribute(const std::string& variable, int64_t iteration, const std::string& name, const T& value) {
    return set_attribute(variable.c_str(), iteration, name, value);
  }

  /// Raises the event `event` of `iteration`. Returns false if the iteration was dropped.
  bool signal(const std::string& event, int64_t iteration) {
    return detail::accepted(handle_, tailrace_signal(handle_, event.c_str(), iteration));
  }

  /// Gives parameters new values, all together. The shapes that name them change for the blocks of later calls. A
  /// call that throws (except for an earlier failure) changes nothing.
  /// Integers are set together, and then real numbers together.
  void set_parameters(const Parameters& parameters) {
    const detail::CParameters c(parameters);
    std::optional<detail::Failure> earlier;  // that the first call reports; the second one is made all the same
    const auto set = [&](tailrace_status status) {
      if (status == TAILRACE_OK) return;
      detail::Failure failure = detail::last_failure(handle_, status);
      if (status != TAILRACE_EARLIER_FAILURE) {
        if (earlier) failure.others.push_back(*earlier);
        throw Error(std::move(failure));
      }
      if (!earlier) earlier = std::move(failure);
    };
    if (!c.wholes.empty()) set(tailrace_set_parameters(handle_, c.wholes.data(), c.wholes.size()));
    if (!c.reals.empty()) set(tailrace_set_real_parameters(handle_, c.reals.data(), c.reals.size()));
    if (earlier) throw Error(std::move(*earlier));
  }

  /// Switches a variable on or off. Blocks of a variable that is off are accepted and not written; borrow() returns
  /// an empty ticket.
  void enable(const std::string& variable, bool on = true) {
    detail::check(handle_, tailrace_enable(handle_, variable.c_str(), on ? 1 : 0));
  }

  /// Waits until everything handed over has ended as `storage.durability` demands.
  void flush() { detail::check(handle_, tailrace_flush(handle_)); }

  /// Does the same without waiting: the ticket ends when everything handed over before has ended.
  [[nodiscard]] Ticket iflush() {
    tailrace_ticket ticket{};
    const tailrace_status status = tailrace_iflush(handle_, &ticket);
    if (status == TAILRACE_OK) return Ticket(ticket);
    detail::Failure failure = detail::last_failure(handle_, status);
    failure.ticket = ticket;
    throw Error(std::move(failure));
  }

  /// Reads one block that this client wrote into `data`, and waits for it. Sees every earlier write.
  template <Block R>
  void read(const std::string& variable, int64_t iteration, R&& data) {
    expect(variable, data);
    detail::check(handle_, tailrace_read(handle_, variable.c_str(), iteration, std::ranges::data(data)));
  }

  /// Returns a scalar variable's value: `out.read<double>("energy", step)`.
  template <Element T>
  T read(const std::string& variable, int64_t iteration) {
    T value{};
    read(variable, iteration, std::span<T>(&value, 1));
    return value;
  }

  /// Returns the last iteration that an earlier run has published, when this client was opened; none if there is
  /// none.
  std::optional<int64_t> last_iteration() const {
    int64_t iteration = -1;
    detail::check(handle_, tailrace_last_iteration(handle_, &iteration));
    return iteration < 0 ? std::nullopt : std::optional(iteration);
  }

  /// Returns the time of that iteration, in `time.unit`; none if there is none, or if its file has no time.
  std::optional<double> last_time() const {
    double time = 0;
    detail::check(handle_, tailrace_last_time(handle_, &time));
    return std::isnan(time) ? std::nullopt : std::optional(time);
  }

  /// Opens the raw file `path`, relative to (the first) `storage.path`; see tailrace_file_open.
  File open_file(const std::string& path, FileMode mode = FileMode::write) {
    tailrace_file file{};
    detail::check(handle_, tailrace_file_open(handle_, path.c_str(), static_cast<int>(mode), &file));
    return File(file);
  }

  /// Removes the raw file `path`, which no client has open; see tailrace_file_remove.
  void remove_file(const std::string& path) { detail::check(handle_, tailrace_file_remove(handle_, path.c_str())); }

  /// Returns type, shape and size of a declared variable.
  tailrace_variable_info describe(const std::string& variable) const {
    tailrace_variable_info info{};
    info.struct_size = sizeof info;
    detail::check(handle_, tailrace_variable(handle_, variable.c_str(), &info));
    return info;
  }

  /// Describes the writer and its resources in one line of text.
  std::string describe() const {
    const char* text = nullptr;
    detail::check(handle_, tailrace_describe(handle_, &text));
    return text;
  }

  /// Returns this client's counters.
  Stats stats() const {
    Stats stats{};
    stats.struct_size = sizeof stats;
    detail::check(handle_, tailrace_get_stats(handle_, &stats));
    return stats;
  }

  /// Returns this client's counters for one declared variable.
  VariableStats stats(const std::string& variable) const {
    VariableStats stats{};
    stats.struct_size = sizeof stats;
    detail::check(handle_, tailrace_get_variable_stats(handle_, variable.c_str(), &stats));
    return stats;
  }

  /// Returns the counters for one raw file, by the path that it was opened by.
  FileStats file_stats(const std::string& path) const {
    FileStats stats{};
    stats.struct_size = sizeof stats;
    detail::check(handle_, tailrace_get_file_stats(handle_, path.c_str(), &stats));
    return stats;
  }

  /// Waits until all accepted requests have ended, and closes the client. Throws Error if there are unreported
  /// failures; the client is closed in any case.
  void close() {
    const tailrace_status status = tailrace_close(handle_);
    // Another thread is inside a call: the client is still open, and the destructor must close it.
    if (status != TAILRACE_BUSY) open_ = false;
    if (status != TAILRACE_OK) throw Error(detail::failure_of_close(handle_, status));
  }

  /// Returns the handle of the C interface, for functions that only C has. This object still owns it.
  tailrace_client* handle() const noexcept { return handle_; }

 private:
  bool set_attribute(const char* variable, int64_t iteration, const std::string& name, tailrace_type type,
                     size_t count, const void* data) {
    return detail::accepted(handle_,
                            tailrace_attribute(handle_, variable, iteration, name.c_str(), type, count, data));
  }
  bool set_attribute(const char* variable, int64_t iteration, const std::string& name, const char* text) {
    return set_attribute(variable, iteration, name, TAILRACE_TEXT, 1, &text);
  }
  bool set_attribute(const char* variable, int64_t iteration, const std::string& name, const std::string& text) {
    return set_attribute(variable, iteration, name, text.c_str());
  }
  bool set_attribute(const char* variable, int64_t iteration, const std::string& name,
                     const std::vector<std::string>& texts) {
    std::vector<const char*> c;
    for (const std::string& text : texts) c.push_back(text.c_str());
    return set_attribute(variable, iteration, name, TAILRACE_TEXT, c.size(), c.data());
  }
  template <Element T>
  bool set_attribute(const char* variable, int64_t iteration, const std::string& name, const T& number) {
    return set_attribute(variable, iteration, name, type_of<T>(), 1, &number);
  }
  template <Block R>
  bool set_attribute(const char* variable, int64_t iteration, const std::string& name, const R& numbers) {
    constexpr tailrace_type type = type_of<std::remove_cv_t<std::ranges::range_value_t<R>>>();
    return set_attribute(variable, iteration, name, type, std::ranges::size(numbers), std::ranges::data(numbers));
  }

  // Checks a block, which has no dimensions here: its type and its number of elements must be right.
  template <class R>
  void expect(const std::string& variable, const R& data) const {
    constexpr tailrace_type type = type_of<std::remove_cv_t<std::ranges::range_value_t<R>>>();
    const tailrace_variable_info info = describe(variable);
    detail::check(handle_, tailrace_expect(handle_, variable.c_str(), type, info.rank, info.shape));
    const uint64_t count = std::ranges::size(data);
    if (count * sizeof(std::ranges::range_value_t<R>) == info.bytes) return;
    // Stated as one dimension, so that the message names both sides.
    detail::check(handle_, tailrace_expect(handle_, variable.c_str(), type, 1, &count));
  }

  void close_quietly() noexcept {
    if (!std::exchange(open_, false)) return;
    const tailrace_status status = tailrace_close(handle_);
    if (status == TAILRACE_OK || status == TAILRACE_FORKED) return;  // the latter: it is the parent's
    try {
      const detail::Failure failure = detail::failure_of_close(handle_, status);
      std::fprintf(stderr, "tailrace: while closing: %s\n", failure.message.c_str());
      for (const detail::Failure& other : failure.others) {
        std::fprintf(stderr, "tailrace: while closing: %s\n", other.message.c_str());
      }
    } catch (const std::bad_alloc&) {
      std::fprintf(stderr, "tailrace: while closing: %s\n", tailrace_status_text(status));
    }
  }

  tailrace_client* handle_ = nullptr;  // kept after close(), so that C can return TAILRACE_CLOSED
  bool open_ = false;
};

/// Opens client `client` (0 or more; usually the MPI rank) by the configuration file `config`.
inline Client open(const std::string& config, int client = 0, const Options& options = {}) {
  tailrace_client* handle = nullptr;
  detail::check(nullptr, detail::with_options(options, [&](const tailrace_open_options* c) {
                  return tailrace_open_with(config.c_str(), client, c, &handle);
                }));
  return Client(handle);
}

/// Checks a whole configuration, and opens nothing; throws Error.
inline void check(const std::string& config, const Options& options = {}) {
  detail::check(nullptr, detail::with_options(options, [&](const tailrace_open_options* c) {
                  return tailrace_check(config.c_str(), c);
                }));
}

/// A file that a crash left, and the action of recover().
struct Leftover {
  std::string file;
  tailrace_leftover kind;
  bool done;               ///< finished or removed
  tailrace_status status;  ///< the reason for a failure, or TAILRACE_OK
  std::string message;
};

/// Searches `directory` for files that a crash left. With `apply` finishes or removes them, else only lists them.
inline std::vector<Leftover> recover(const std::string& directory, bool apply = true) {
  struct Found {
    std::vector<Leftover> leftovers;
    std::exception_ptr error;  // no exception may pass through C
  } found;
  const auto add = [](void* context, const char* file, tailrace_leftover kind, int done, tailrace_status status,
                      const char* message) {
    Found& to = *static_cast<Found*>(context);
    try {
      to.leftovers.push_back({file, kind, done != 0, status, message ? message : ""});
    } catch (...) {
      to.error = std::current_exception();
    }
  };
  const tailrace_status status = tailrace_recover(directory.c_str(), apply ? 1 : 0, add, &found);
  if (found.error) std::rethrow_exception(found.error);
  detail::check(nullptr, status);
  return std::move(found.leftovers);
}

/// Returns "0.1.0".
inline std::string version() { return tailrace_version(); }

}  // namespace tailrace

#endif  // TAILRACE_TAILRACE_HPP
