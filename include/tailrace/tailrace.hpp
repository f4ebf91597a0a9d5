// tailrace.hpp: the C++ interface of tailrace: RAII, spans and exceptions over tailrace.h, and nothing else.
//
// Header-only, C++20, needs tailrace.h beside it and libtailrace to link with. It holds no logic: every check is made
// behind the C interface, whose conventions hold here too. In particular:
//  - A Client is used by one thread at a time (any thread); different clients are independent.
//  - A child of fork() has its parent's objects, and each call of them throws Error (TAILRACE_FORKED); their
//    destructors do nothing there.
//  - Every failure is a tailrace::Error. One with earlier() true belongs to a request accepted before: the call that
//    threw it *has been carried out* and must not be repeated.
//  - `when_full: drop` is not a failure: the verbs return false (or an empty span, or an empty ticket) for a block of
//    an iteration that was dropped.
#ifndef TAILRACE_TAILRACE_HPP
#define TAILRACE_TAILRACE_HPP

#include <tailrace/tailrace.h>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tailrace {

/// What a client has done so far; see tailrace_stats for each member.
using Stats = tailrace_stats;
/// The same of one variable; see tailrace_variable_stats and tailrace_times.
using VariableStats = tailrace_variable_stats;
/// The same of one raw file; see tailrace_file_stats and tailrace_sizes.
using FileStats = tailrace_file_stats;

/// The C++ types that a variable may hold: integers of 8 to 64 bits (not bool, not character types), float, double
/// and long double.
template <class T>
concept Element = std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, long double> ||
    (std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, bool> && !std::same_as<T, char> &&
     !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> && !std::same_as<T, char16_t> &&
     !std::same_as<T, char32_t>);

/// Anything that lies in memory as one run of elements: std::vector, std::array, std::span, a C array.
template <class R>
concept Block = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    Element<std::remove_cv_t<std::ranges::range_value_t<R>>>;

/// The element type of tailrace that T is.
template <Element T>
constexpr tailrace_type type_of() {
  if constexpr (std::same_as<T, float>) return TAILRACE_FLOAT32;
  if constexpr (std::same_as<T, double>) return TAILRACE_FLOAT64;
  if constexpr (std::same_as<T, long double>) return TAILRACE_LONG_DOUBLE;
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

// The contents of an Error. The copies of one exception share them, so that copying it cannot throw.
struct Failure {
  tailrace_status status = TAILRACE_OK;
  bool earlier = false;
  int system_errno = 0;
  int64_t iteration = -1;
  uint64_t more = 0;
  std::string operation, file, variable, message;
  tailrace_ticket ticket{};
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

// Copies the last error of `client`. `status` is what the call returned. With TAILRACE_BUSY another thread is inside
// the client, and its last error is that thread's.
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

// The failure of a close, with the others that it has not told.
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

/// A failure, whole: of the call that threw it, or (earlier() true) of a request accepted before.
class Error : public std::exception {
 public:
  explicit Error(detail::Failure failure) : failure_(std::make_shared<const detail::Failure>(std::move(failure))) {}

  /// One sentence or more, readable by itself.
  const char* what() const noexcept override { return failure_->message.c_str(); }
  /// The cause; never TAILRACE_EARLIER_FAILURE.
  tailrace_status status() const noexcept { return failure_->status; }
  /// "write", "open", "publish", …
  const std::string& operation() const noexcept { return failure_->operation; }
  /// "" where no file is concerned; the same for variable().
  const std::string& file() const noexcept { return failure_->file; }
  const std::string& variable() const noexcept { return failure_->variable; }
  /// -1 where it does not apply.
  int64_t iteration() const noexcept { return failure_->iteration; }
  /// errno of the operating system, or 0.
  int system_errno() const noexcept { return failure_->system_errno; }
  /// True: the call that threw was carried out; a request accepted earlier has failed.
  bool earlier() const noexcept { return failure_->earlier; }
  /// Further failures that no call has told yet.
  uint64_t more() const noexcept { return failure_->more; }
  /// Where borrow() threw with earlier() true: the ticket of the block it lent all the same. Else a zeroed one.
  tailrace_ticket ticket() const noexcept { return failure_->ticket; }
  /// Where Client::close() threw: the other failures that no call had told, the oldest first. Else empty.
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

// For the verbs that may drop: false if the iteration was dropped.
inline bool accepted(tailrace_client* client, tailrace_status status) {
  if (status == TAILRACE_DROPPED) return false;
  check(client, status);
  return true;
}

}  // namespace detail

/// A handle on one borrowed block. A plain value: copy it, forget it. It is good until its client is closed.
class Ticket {
 public:
  /// An empty ticket: nothing was lent, and there is nothing to wait for.
  Ticket() = default;
  explicit Ticket(tailrace_ticket ticket) : ticket_(ticket) {}

  /// False for an empty ticket, as borrow() returns where nothing is lent.
  explicit operator bool() const noexcept { return ticket_.client != nullptr; }

  /// Waits until the block has been written; its memory is the caller's again. Throws Error if it could not be
  /// written (the memory is the caller's again, too). May be called more than once.
  void wait() const { detail::check(ticket_.client, tailrace_wait(ticket_, -1)); }

  /// Waits for at most `timeout`; false if that was not enough: the block is still lent.
  bool wait(std::chrono::milliseconds timeout) const {
    const int64_t most = timeout.count() < 0 ? 0 : static_cast<int64_t>(timeout.count());
    const tailrace_status status = tailrace_wait(ticket_, most);
    if (status == TAILRACE_TIMEOUT) return false;
    detail::check(ticket_.client, status);
    return true;
  }

  /// Whether it has ended, without waiting. Throws Error if it has ended badly.
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

/// How to open a raw file: to read one that is there; to read and write, made if need be; the same, and emptied; and
/// these two with writes that do not gather to be merged with later ones.
enum class FileMode {
  read = TAILRACE_FILE_READ,
  write = TAILRACE_FILE_WRITE,
  truncate = TAILRACE_FILE_WRITE | TAILRACE_FILE_TRUNCATE,
  write_immediate = write | TAILRACE_FILE_IMMEDIATE,
  truncate_immediate = truncate | TAILRACE_FILE_IMMEDIATE
};

/// What lies in memory as one run of plain bytes: what raw files take and give.
template <class R>
concept RawBytes = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;

/// A raw file of a client, in the program's own format; made by Client::open_file(). Movable, not copyable. Used by
/// one thread at a time with its client, before which it must end.
///
/// close() it to learn of failures that nobody has asked about; the destructor closes too, but can only print them.
class File {
 public:
  /// A file that is not open: every call of it throws Error.
  File() = default;
  /// Takes a file of the C interface over.
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

  /// Writes all of `data` at `offset`: copies it, and returns. `data` is the caller's again.
  template <RawBytes R>
  void write(uint64_t offset, const R& data) {
    write(Extent{offset, bytes_in(data)}, data);
  }
  /// Writes the extents (list I/O), whose bytes are in `data`, one after the other. Throws Error, also if `data` has
  /// not as many bytes as the extents.
  template <RawBytes R>
  void write(std::span<const Extent> extents, const R& data) {
    expect("file_write", extents, bytes_in(data));
    detail::check(file_.client, tailrace_file_write(file_, extents.size(), extents.data(), std::ranges::data(data)));
  }
  /// Fills `data` with the bytes from `offset` on, and waits for it. Sees every earlier write of this client.
  template <RawBytes R>
  void read(uint64_t offset, R&& data) {
    read(Extent{offset, bytes_in(data)}, data);
  }
  /// The same with the extents, one after the other.
  template <RawBytes R>
  void read(std::span<const Extent> extents, R&& data) {
    expect("file_read", extents, bytes_in(data));
    detail::check(file_.client, tailrace_file_read(file_, extents.size(), extents.data(), std::ranges::data(data)));
  }
  /// Waits until all earlier writes of this client to the file are on the device.
  void sync() { detail::check(file_.client, tailrace_file_sync(file_)); }
  /// The length in bytes, after all earlier writes of this client.
  uint64_t size() const {
    uint64_t bytes = 0;
    detail::check(file_.client, tailrace_file_size(file_, &bytes));
    return bytes;
  }
  /// Cuts the file to `bytes`, or makes it that long: new bytes are 0.
  void truncate(uint64_t bytes) { detail::check(file_.client, tailrace_file_truncate(file_, bytes)); }
  /// Reserves the bytes from `offset` on, and makes the file at least that long.
  void allocate(uint64_t offset, uint64_t bytes) {
    detail::check(file_.client, tailrace_file_allocate(file_, offset, bytes));
  }
  /// Waits until they have ended, and closes. Throws Error if failures were not yet told; the file is closed all the
  /// same.
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
    if (status == TAILRACE_FORKED) return;                           // it is the parent's
    tailrace_error error{};
    error.struct_size = sizeof error;
    const bool told = status != TAILRACE_BUSY && tailrace_last_error(file_.client, &error) == TAILRACE_OK;
    const char* const message = told && error.message != nullptr ? error.message : tailrace_status_text(status);
    std::fprintf(stderr, "tailrace: while closing a file: %s\n", message);
  }

  tailrace_file file_{};
  bool open_ = false;
};

/// Parameters of the configuration, and their values.
using Parameters = std::vector<std::pair<std::string, int64_t>>;

/// What open() and check() can be told beyond the configuration file. Empty means: as the file says.
struct Options {
  std::string text = {};       ///< the YAML itself, instead of a file
  std::string path = {};       ///< replaces `storage.path`
  Parameters parameters = {};  ///< replace or add to `parameters:`
};

namespace detail {

// As C takes them; good as long as `given` is.
inline std::vector<tailrace_parameter> c_parameters(const Parameters& given) {
  std::vector<tailrace_parameter> parameters;
  for (const auto& [name, value] : given) parameters.push_back({name.c_str(), value});
  return parameters;
}

// Calls `function` with the options as C takes them.
template <class Function>
auto with_options(const Options& options, Function function) {
  const std::vector<tailrace_parameter> parameters = c_parameters(options.parameters);
  tailrace_open_options c{};
  c.struct_size = sizeof c;
  c.config_text = options.text.empty() ? nullptr : options.text.c_str();
  c.path = options.path.empty() ? nullptr : options.path.c_str();
  c.parameters = parameters.data();
  c.parameter_count = parameters.size();
  return function(&c);
}

}  // namespace detail

/// One process (or thread) of the application. Movable, not copyable; made by tailrace::open().
///
/// close() it to learn of failures that nobody has asked about; the destructor closes too, but can only print them.
class Client {
 public:
  /// A client that is not open: every call of it throws Error.
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

  /// Closes, if close() was not called. Never throws: a failure that no call has told is printed to stderr.
  ~Client() { close_quietly(); }

  /// Hands over a copy of one block (one copy, no I/O); `data` is the caller's again when it returns. False: the
  /// iteration was dropped. Throws Error, also if the element type or the number of elements is not the declared one.
  template <Block R>
  bool write(const std::string& variable, int64_t iteration, const R& data) {
    expect(variable, data);
    return detail::accepted(handle_, tailrace_write(handle_, variable.c_str(), iteration, std::ranges::data(data)));
  }

  /// Memory of the pool to build one block in, without a copy. It is the caller's until commit(), and must not be
  /// touched after it, nor after close(). A second alloc() before the commit returns the same memory. Empty: the
  /// iteration was dropped.
  template <Element T>
  std::span<T> alloc(const std::string& variable, int64_t iteration) {
    const tailrace_variable_info info = describe(variable);
    detail::check(handle_, tailrace_expect(handle_, variable.c_str(), type_of<T>(), info.rank, info.shape));
    void* data = nullptr;
    if (!detail::accepted(handle_, tailrace_alloc(handle_, variable.c_str(), iteration, &data))) return {};
    return {static_cast<T*>(data), static_cast<size_t>(info.bytes / sizeof(T))};
  }

  /// Hands over the block that alloc() returned. False: the iteration was dropped.
  bool commit(const std::string& variable, int64_t iteration) {
    return detail::accepted(handle_, tailrace_commit(handle_, variable.c_str(), iteration));
  }

  /// Lends the caller's own memory: no copy. `data` must stay valid and unchanged until the ticket has ended, or
  /// close() has returned; so temporaries are refused. An empty ticket: the iteration was dropped, or
  /// the variable is off, and nothing is lent.
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

  /// Says that nothing more comes for `iteration`; its file is completed and published in the background. False: the
  /// iteration was dropped.
  bool end_iteration(int64_t iteration) {
    return detail::accepted(handle_, tailrace_end_iteration(handle_, iteration));
  }

  /// Records the event `event` of `iteration`. False: the iteration was dropped.
  bool signal(const std::string& event, int64_t iteration) {
    return detail::accepted(handle_, tailrace_signal(handle_, event.c_str(), iteration));
  }

  /// Gives parameters new values, all together: the shapes that name them follow, for the blocks of the calls after.
  /// A call that throws (but for an earlier failure) has changed nothing.
  void set_parameters(const Parameters& parameters) {
    const std::vector<tailrace_parameter> c = detail::c_parameters(parameters);
    detail::check(handle_, tailrace_set_parameters(handle_, c.data(), c.size()));
  }

  /// Switches a variable on or off. Of one that is off, blocks are accepted and not written; borrow() returns an
  /// empty ticket.
  void enable(const std::string& variable, bool on = true) {
    detail::check(handle_, tailrace_enable(handle_, variable.c_str(), on ? 1 : 0));
  }

  /// Waits until everything handed over has ended as `storage.durability` asks.
  void flush() { detail::check(handle_, tailrace_flush(handle_)); }

  /// The same without waiting: the ticket ends when everything handed over before has ended.
  [[nodiscard]] Ticket iflush() {
    tailrace_ticket ticket{};
    detail::check(handle_, tailrace_iflush(handle_, &ticket));
    return Ticket(ticket);
  }

  /// Reads one block that this client wrote into `data`, and waits for it. Sees every earlier write.
  template <Block R>
  void read(const std::string& variable, int64_t iteration, R&& data) {
    expect(variable, data);
    detail::check(handle_, tailrace_read(handle_, variable.c_str(), iteration, std::ranges::data(data)));
  }

  /// Opens the raw file `path`, relative to (the first) `storage.path`; see tailrace_file_open.
  File open_file(const std::string& path, FileMode mode = FileMode::write) {
    tailrace_file file{};
    detail::check(handle_, tailrace_file_open(handle_, path.c_str(), static_cast<int>(mode), &file));
    return File(file);
  }

  /// Removes the raw file `path`, which nobody has open; see tailrace_file_remove.
  void remove_file(const std::string& path) { detail::check(handle_, tailrace_file_remove(handle_, path.c_str())); }

  /// Type, shape and size of a declared variable.
  tailrace_variable_info describe(const std::string& variable) const {
    tailrace_variable_info info{};
    info.struct_size = sizeof info;
    detail::check(handle_, tailrace_variable(handle_, variable.c_str(), &info));
    return info;
  }

  /// What the writer is and got, as one line of text.
  std::string describe() const {
    const char* text = nullptr;
    detail::check(handle_, tailrace_describe(handle_, &text));
    return text;
  }

  /// What this client has done so far.
  Stats stats() const {
    Stats stats{};
    stats.struct_size = sizeof stats;
    detail::check(handle_, tailrace_get_stats(handle_, &stats));
    return stats;
  }

  /// What this client has done so far with one declared variable.
  VariableStats stats(const std::string& variable) const {
    VariableStats stats{};
    stats.struct_size = sizeof stats;
    detail::check(handle_, tailrace_get_variable_stats(handle_, variable.c_str(), &stats));
    return stats;
  }

  /// What has become of requests for one raw file, by the path that it was opened by.
  FileStats file_stats(const std::string& path) const {
    FileStats stats{};
    stats.struct_size = sizeof stats;
    detail::check(handle_, tailrace_get_file_stats(handle_, path.c_str(), &stats));
    return stats;
  }

  /// Waits until everything accepted has ended, and closes. Throws Error if failures were not yet told; the client is
  /// closed all the same.
  void close() {
    const tailrace_status status = tailrace_close(handle_);
    // Another thread is inside a call: the client is still open, and the destructor must close it.
    if (status != TAILRACE_BUSY) open_ = false;
    if (status != TAILRACE_OK) throw Error(detail::failure_of_close(handle_, status));
  }

  /// The handle of the C interface, for what only that can do. Still this object's.
  tailrace_client* handle() const noexcept { return handle_; }

 private:
  // A block has no dimensions here: its type and its number of elements have to be right.
  template <class R>
  void expect(const std::string& variable, const R& data) const {
    constexpr tailrace_type type = type_of<std::remove_cv_t<std::ranges::range_value_t<R>>>();
    const tailrace_variable_info info = describe(variable);
    detail::check(handle_, tailrace_expect(handle_, variable.c_str(), type, info.rank, info.shape));
    const uint64_t count = std::ranges::size(data);
    if (count * sizeof(std::ranges::range_value_t<R>) == info.bytes) return;
    // Stated as one dimension, so that the refusal names both sides.
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

  tailrace_client* handle_ = nullptr;  // kept after close(), so that C can say "closed"
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

/// Checks a configuration whole, without opening anything; throws Error.
inline void check(const std::string& config, const Options& options = {}) {
  detail::check(nullptr, detail::with_options(options, [&](const tailrace_open_options* c) {
                  return tailrace_check(config.c_str(), c);
                }));
}

/// What a crash left of one file, and what recover() did about it.
struct Leftover {
  std::string file;
  tailrace_leftover kind;
  bool done;               ///< finished or removed
  tailrace_status status;  ///< what went wrong with this one
  std::string message;
};

/// Looks through `directory` for what a crash left there; with `apply` finishes or removes it, else only lists it.
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

/// "0.1.0"
inline std::string version() { return tailrace_version(); }

}  // namespace tailrace

#endif  // TAILRACE_TAILRACE_HPP
