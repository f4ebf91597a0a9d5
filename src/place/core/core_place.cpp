#include "place/core/core_place.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "model/wire/core_wire.hpp"

namespace tailrace::impl {
namespace {

constexpr Nanoseconds kHeardIn = std::chrono::seconds(1);      // longest wait for the server to hear a goodbye
constexpr Nanoseconds kLook = std::chrono::milliseconds(200);  // how often a waiting client checks its server
constexpr Nanoseconds kGreeting = std::chrono::seconds(30);    // for the answer of a server that may be busy
constexpr Nanoseconds kEnding = std::chrono::seconds(2);       // for a process that is ending
constexpr int kTries = 16;                                     // servers that end just as the client meets them

template <size_t N>
std::string text_of(const char (&field)[N]) {
  return {field, strnlen(field, N)};
}

// Sandboxes forbid memfd_create with EPERM or ENOSYS.
Status no_memfd(int error) {
  Fault fault = Status::of_errno("create", "memfd", error).fault();
  if (error == EPERM) fault.message += "; does a sandbox forbid memfd_create?";
  fault.message += " (place core needs it, place thread does not)";
  return Status(std::move(fault));
}

// Makes a memory file that contains `text`.
Result<FileDescriptor> file_of(const std::string& text) {
  FileDescriptor file(memfd_create("tailrace-configuration", MFD_CLOEXEC));
  if (!file.is_open()) return no_memfd(errno);
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t some = ::write(file.get(), text.data() + done, text.size() - done);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return Status::of_errno("write", "memfd", errno);
    done += static_cast<size_t>(some);
  }
  return file;
}

Result<LastIteration> last_iteration_in(const Welcome& welcome) {
  if (welcome.last_unknown.code != TAILRACE_OK) return to_status(welcome.last_unknown);
  return welcome.last;
}

}  // namespace

Result<std::unique_ptr<CorePlace>> CorePlace::create(Options options, Log& log) {
  Result<RuntimeDirectory> job = RuntimeDirectory::open(options.root, options.job);
  if (!job.ok()) return job.status();
  std::unique_ptr<CorePlace> place(new CorePlace(std::move(options), std::move(job).value(), log));
  if (Status status = place->begin(); !status.ok()) return status;
  return place;
}

Status CorePlace::begin() {
  Result<Met> met = meet_server(false);
  if (!met.ok()) return met.status();
  Met& of = met.value();
  Result<std::unique_ptr<Segment>> segment = Segment::map(std::move(of.segment), of.sizes, of.pool);
  if (!segment.ok()) return segment.status();
  segment_ = std::move(segment).value();
  segment_->control().client_state.store(ChannelControl::kClientHere, std::memory_order_release);
  socket_ = std::move(of.socket);
  bell_ = std::move(of.bell);
  process_ = std::move(of.process);
  last_iteration_ = std::move(of.last_iteration);
  description_ =
      fmt::format("core, server process {}, {}; segment {} MiB", process_->pid(), of.description, of.pool >> 20);
  return {};
}

// Meets the server. If it ends just then, tries again, and may start the next one.
Result<CorePlace::Met> CorePlace::meet_server(bool again) {
  Status last;
  for (int count = 0; count < kTries; ++count) {
    if (Status there = job_.make_again(); !there.ok()) return there;
    Result<UnixSocket> socket = meet(job_, options_.server, options_.start);
    if (!socket.ok()) return socket.status();
    Result<Met> met = greet(std::move(socket).value(), again);
    if (met.ok()) return met;
    last = met.status();
    const int error = last.fault().system_errno;
    if (error != ECONNRESET && error != EPIPE) return last;
  }
  return last;
}

Result<CorePlace::Met> CorePlace::greet(UnixSocket socket, bool again) const {
  const Result<FileDescriptor> configuration = file_of(options_.configuration);
  if (!configuration.ok()) return configuration.status();
  Hello hello;
  hello.client = options_.client;
  hello.again = again ? 1 : 0;
  hello.configuration = options_.configuration.size();
  const Deadline deadline(kGreeting);
  const int file = configuration.value().get();
  if (Status sent = socket.send(std::as_bytes(std::span(&hello, 1)), {&file, 1}, deadline); !sent.ok()) return sent;
  Welcome welcome;
  Result<Message> answer = socket.receive(std::as_writable_bytes(std::span(&welcome, 1)), 2, deadline);
  if (!answer.ok()) return answer.status();
  if (answer.value().bytes != sizeof welcome || welcome.magic != kCoreMagic || welcome.version != kCoreVersion) {
    return Status(TAILRACE_UNSUPPORTED,
                  "the node's server is of another version of tailrace: its answer has another form");
  }
  if (welcome.refusal.code != TAILRACE_OK) return to_status(welcome.refusal);
  if (answer.value().descriptors.size() != 2) {
    return Status(TAILRACE_INTERNAL, "the node's server sent no segment with its welcome");
  }
  Result<ProcessHandle> process = socket.peer_process();
  if (!process.ok()) return process.status();
  const ChannelSizes sizes{welcome.variables, welcome.ring, welcome.tickets, welcome.blocks};
  return Met{std::move(socket),
             std::move(answer.value().descriptors[0]),
             std::move(answer.value().descriptors[1]),
             sizes,
             welcome.pool,
             std::move(process).value(),
             text_of(welcome.description),
             last_iteration_in(welcome)};
}

void CorePlace::ring() {
  if (stand_in_) {
    // Completes the verb before it returns. If that takes too long, the next wait reports it.
    (void)wait([this] { return stand_in_->idle(); }, std::nullopt);
    return;
  }
  if (!segment_->control().server_asleep.claim()) return;
  const uint64_t one = 1;
  ssize_t put = 0;
  do {
    put = ::write(bell_.get(), &one, sizeof one);
  } while (put < 0 && errno == EINTR);
}

// Counts all completed work of the server.
uint64_t CorePlace::ends_so_far() {
  const ServerCounters& counters = channel().counters;
  return counters.blocks_written.get() + counters.blocks_failed.get() + counters.transfers.get() +
         counters.iterations_published.get() + counters.iterations_failed.get();
}

Status CorePlace::wait(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) {
  const SteadyClock clock;
  const Nanoseconds start = clock.now();
  Nanoseconds last_end = start;
  uint64_t ends = ends_so_far();
  for (;;) {
    Nanoseconds slice = kLook;
    if (timeout) slice = std::min(slice, *timeout - (clock.now() - start));
    if (!lost_.ok()) slice = Nanoseconds::zero();  // nothing comes any more
    if (sleep(ready, slice)) return {};
    if (stand_in_ && lost_.ok()) lost_ = stand_in_->lost();
    if (!lost_.ok()) return lost_;
    const Nanoseconds now = clock.now();
    // Checks this before the time, so that a caller that only polls notices a loss, too.
    if (!stand_in_ && (!socket_ || socket_->peer_gone())) {
      if (Status status = go_on_after_loss(); !status.ok()) return status;
      if (ready()) return {};
      last_end = clock.now();
    }
    if (timeout && now - start >= *timeout) return Status(TAILRACE_TIMEOUT, "the time given has passed");
    if (const uint64_t seen = ends_so_far(); seen != ends) {
      ends = seen;
      last_end = now;
    }
    // relaxed: the server updates it while it lives, and gives up by its own timeout.
    const bool awaits_others = channel().awaited.load(std::memory_order_relaxed) > 0;
    if (awaits_others) last_end = now;
    if (now - last_end >= options_.patience) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - last_end).count();
      const std::string who = stand_in_ ? "this process, which serves itself,"
                                        : fmt::format("the node's server (process {})", process_->pid());
      return Status(TAILRACE_TIMEOUT, fmt::format("{} has completed nothing for {} s; it is alive, so look at its "
                                                  "storage (place.patience is the limit)",
                                                  who, seconds));
    }
  }
}

// Sleeps until ready() holds, an event happens, or `at_most` has passed. Returns ready(), and does not call it again
// after it held: it may have taken what it waited for.
bool CorePlace::sleep(FunctionRef<bool()> ready, Nanoseconds at_most) {
  if (!stand_in_) return channel().client_bell.wait_until(ready, at_most);
  bool is_ready = false;
  const auto look = [&] { return is_ready = is_ready || ready(); };
  if (!look()) stand_in_->work(look, at_most);
  return look();
}

Status CorePlace::go_on_after_loss() {
  socket_.reset();
  log_.error("the node's server (process {}) has died", process_->pid());
  Status why(TAILRACE_SERVER_LOST, fmt::format("the node's server (process {}) has died", process_->pid()));
  if (options_.restart || options_.stand_in) {
    const Status status = options_.stand_in ? go_on_alone() : meet_another();
    if (status.ok()) {
      ++losses_;
      return {};
    }
    why = Status(TAILRACE_SERVER_LOST,
                 why.fault().message + ", and another one cannot take its place: " + status.fault().message);
  }
  lost_ = why;
  return lost_;
}

Status CorePlace::meet_another() {
  Result<Met> met = meet_server(true);
  if (!met.ok()) return met.status();
  socket_ = std::move(met.value().socket);
  bell_ = std::move(met.value().bell);
  process_ = std::move(met.value().process);
  log_.warning("the node's server is now process {}", process_->pid());
  return {};
}

Status CorePlace::go_on_alone() {
  // A dying process closes its connections before it has released all of its resources.
  (void)process_->wait_end(kEnding);
  Result<std::unique_ptr<StandIn>> stand_in = options_.stand_in(job_, *segment_);
  // Another client has started a server, which has this client's segment.
  if (stand_in.status().code() == TAILRACE_CLIENT_IN_USE) return meet_another();
  if (!stand_in.ok()) return stand_in.status();
  stand_in_ = std::move(stand_in).value();
  log_.warning("client {} goes on alone: each of its calls writes its data before it returns", options_.client);
  return {};
}

void CorePlace::stop() {
  // release: a server that sees this sees all that was sent; partner: CoreServer::adopt().
  segment_->control().client_state.store(ChannelControl::kClientLeft, std::memory_order_release);
  if (!stand_in_) return say_goodbye();
  if (!stand_in_->finish(options_.patience)) {
    log_.error("storage has completed nothing for {} s: tailrace recover must finish the data of client {}",
               std::chrono::duration_cast<std::chrono::seconds>(options_.patience).count(), options_.client);
    (void)stand_in_.release();  // storage may still access its memory
  }
  stand_in_.reset();
}

void CorePlace::say_goodbye() {
  if (!socket_) return;
  if (socket_->peer_gone()) {
    // Another server may have taken this client over before it left, and waits for it to come back.
    socket_.reset();
    Result<UnixSocket> next = meet_running(job_, options_.server, kLook);
    Result<Met> met = next.ok() ? greet(std::move(next).value(), true) : Result<Met>(next.status());
    if (!met.ok()) return;  // no server serves it, and later ones see that it has left
    socket_ = std::move(met.value().socket);
  }
  const Goodbye goodbye;
  // If the server does not receive it, it sees the connection close.
  const Status sent = socket_->send(std::as_bytes(std::span(&goodbye, 1)), {}, kLook);
  // The server closes the connection when it has heard it. From then on the other clients' calls are told of data
  // that this client does not write any more.
  Goodbye none;
  if (sent.ok()) (void)socket_->receive(std::as_writable_bytes(std::span(&none, 1)), 0, kHeardIn);
  socket_.reset();
}

}  // namespace tailrace::impl
