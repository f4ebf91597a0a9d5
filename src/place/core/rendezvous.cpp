#include "place/core/rendezvous.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/names/counted.hpp"
#include "base/os/file_mutex.hpp"
#include "model/wire/failure_wire.hpp"

namespace tailrace::impl {
namespace {

// The announcement of a server that is ready. A server that fails announces a FailureRecord.
constexpr std::array<char, 8> kReady = {'t', 'r', 'r', 'e', 'a', 'd', 'y', '1'};
static_assert(sizeof kReady != sizeof(FailureRecord));

constexpr int kAttempts = 10;                            // against servers that end while the client meets them
constexpr int kDeathsAtStart = 5;                        // of servers that end without an announcement
constexpr size_t kTailOfLog = 500;                       // bytes quoted in messages
constexpr auto kEndingLimit = std::chrono::seconds(10);  // for a process that has been killed

bool is_nobody(const Status& status) {
  const int error = status.fault().system_errno;
  return error == ENOENT || error == ECONNREFUSED;
}

std::string tail_of(const std::string& log) {
  std::ifstream file(log, std::ios::binary | std::ios::ate);
  if (log.empty() || !file) return {};
  const std::streamoff size = file.tellg();
  std::string text(std::min<size_t>(static_cast<size_t>(size), kTailOfLog), '\0');
  file.seekg(size - static_cast<std::streamoff>(text.size()));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Status start_failed(const StartOptions& options, tailrace_status code, const std::string& what) {
  Fault fault;
  fault.code = code;
  fault.operation = "start";
  fault.file = options.executable;
  fault.message = fmt::format("the server '{}' {}", options.executable, what);
  const std::string tail = tail_of(options.log);
  if (!tail.empty()) fault.message += fmt::format("; its log '{}' ends with: {}", options.log, tail);
  return Status(std::move(fault));
}

// Receives the program's announcement: none if it is ready, else the reason for its failure. Fails with ECONNRESET if
// the program ended without one, and with TAILRACE_TIMEOUT.
Result<std::optional<Status>> hear(UnixSocket& socket, const Deadline& deadline) {
  std::array<std::byte, sizeof(FailureRecord)> bytes;
  const Result<Message> message = socket.receive(bytes, 0, deadline);
  if (!message.ok()) return message.status();
  if (message.value().bytes == sizeof kReady && std::memcmp(bytes.data(), kReady.data(), sizeof kReady) == 0)
    return std::optional<Status>();
  if (message.value().bytes != sizeof(FailureRecord)) {
    return Status(TAILRACE_IO_ERROR, fmt::format("announced {} and no valid message (is it of another version?)",
                                                 counted(message.value().bytes, "byte")));
  }
  FailureRecord record;
  std::memcpy(&record, bytes.data(), sizeof record);
  return std::optional<Status>(to_status(record));
}

// Ends a program that has not announced itself, and returns what is known of it; `heard` is what was received
// instead.
Status give_up(const StartOptions& options, const Status& heard, const ProcessHandle& child) {
  kill_session(child);
  const Result<HowItEnded> end = reap(child, kEndingLimit);
  if (heard.code() == TAILRACE_TIMEOUT) {
    const auto limit = options.limit / std::chrono::milliseconds(1);
    return start_failed(options, TAILRACE_TIMEOUT, fmt::format("was not ready within {} ms: killed", limit));
  }
  if (heard.fault().system_errno != ECONNRESET) return start_failed(options, heard.code(), heard.fault().message);
  // If the program had detached itself, its first process ended well, and nothing is known of the second.
  const bool known = end.ok() && end.value() && *end.value() != "exit status 0" && *end.value() != "signal 9";
  return start_failed(options, TAILRACE_SERVER_LOST,
                      "ended before it was ready" + (known ? fmt::format(" ({})", *end.value()) : ""));
}

Status start(const StartOptions& options, const Deadline& deadline) {
  Result<std::pair<UnixSocket, UnixSocket>> ends = UnixSocket::pair();
  if (!ends.ok()) return ends.status();
  UnixSocket ours = std::move(ends.value().first);
  std::optional<UnixSocket> theirs(std::move(ends.value().second));
  const Result<ProcessHandle> child =
      spawn({options.executable, options.arguments, options.log, theirs->fd(), options.own_log});
  if (!child.ok()) return child.status();
  theirs.reset();  // only the program has it now, so that its end is seen
  const Result<std::optional<Status>> heard = hear(ours, deadline);
  if (!heard.ok()) return give_up(options, heard.status(), child.value());
  // The first process has ended, or is about to, if the program detaches itself as it should.
  if (!reap(child.value(), deadline).ok()) {
    kill_session(child.value());
    (void)reap(child.value(), kEndingLimit);
    return start_failed(options, TAILRACE_INTERNAL, "goes on as a child of the process that started it");
  }
  const std::optional<Status>& failed = heard.value();
  if (!failed) return {};
  return start_failed(options, failed->code(), "did not start: " + failed->fault().message);
}

// Starts a server after winning the election: no other process starts one now. No socket: the caller tries again.
Result<std::optional<UnixSocket>> elected(const RuntimeDirectory& job, int server, const StartOptions& options,
                                          const Deadline& deadline) {
  Result<UnixSocket> there = meet_running(job, server, deadline);
  if (there.ok()) return std::optional(std::move(there).value());
  if (!is_nobody(there.status())) return there.status();
  const Status started = start(options, deadline);
  // A server that was not elected: started by hand, or about to end.
  if (!started.ok() && started.code() == TAILRACE_CLIENT_IN_USE) return std::optional<UnixSocket>();
  if (!started.ok()) return started;
  Result<UnixSocket> socket = meet_running(job, server, deadline);
  if (socket.ok()) return std::optional(std::move(socket).value());
  if (is_nobody(socket.status())) return std::optional<UnixSocket>();
  return socket.status();
}

Result<UnixSocket> meet_or_start(RuntimeDirectory& job, int server, const StartOptions& options) {
  const Deadline deadline(options.limit);
  int deaths = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (const Status status = job.make_again(); !status.ok()) return status;
    Result<UnixSocket> there = meet_running(job, server, deadline);
    if (there.ok() || !is_nobody(there.status())) return there;
    Result<FileMutex> election = FileMutex::open(job.directory(), RuntimeDirectory::election_lock());
    if (!election.ok() && !job.directory().still_there()) continue;
    if (!election.ok()) return election.status();
    const Result<FileMutex::Held> held = election.value().lock(deadline);
    if (!held.ok()) return held.status();
    if (election.value().is_removed()) continue;
    Result<std::optional<UnixSocket>> socket = elected(job, server, options, deadline);
    // It may have been killed as it started; a server that dies each time is not retried forever.
    const bool died = !socket.ok() && socket.status().code() == TAILRACE_SERVER_LOST;
    if (died && ++deaths < kDeathsAtStart) continue;
    if (!socket.ok()) return socket.status();
    if (socket.value()) return std::move(*socket.value());
  }
  return Status(TAILRACE_SERVER_LOST, fmt::format("server {} in '{}' ended each of the {} times it was met", server,
                                                  job.directory().path(), kAttempts));
}

}  // namespace

Result<UnixSocket> meet_running(const RuntimeDirectory& job, int server, const Deadline& deadline) {
  Result<UnixSocket> socket = UnixSocket::connect(job.directory(), RuntimeDirectory::server_socket(server), deadline);
  if (!socket.ok()) return socket;
  if (const Status status = socket.value().check_same_user(); !status.ok()) return status;
  return socket;
}

Result<UnixSocket> meet(RuntimeDirectory& job, int server, const StartOptions& options) {
  Result<UnixSocket> socket = meet_or_start(job, server, options);
  // If no other process comes, the election's files would stay. (Other processes that hold an election do the same.)
  if (!socket.ok()) (void)job.remove_if_unused();
  return socket;
}

Result<ServerLock> ServerLock::take(const RuntimeDirectory& job, int server, const Deadline& deadline) {
  const std::string name = RuntimeDirectory::server_lock(server);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Result<FileMutex> mutex = FileMutex::open(job.directory(), name);
    if (!mutex.ok()) return mutex.status();
    Result<FileMutex::Held> held = mutex.value().lock(deadline);
    if (!held.ok() && held.status().code() == TAILRACE_TIMEOUT) {
      return Status(TAILRACE_CLIENT_IN_USE, fmt::format("server {} of this job is running already: it holds '{}'",
                                                        server, job.directory().path_of(name)));
    }
    if (!held.ok()) return held.status();
    if (!mutex.value().is_removed()) return ServerLock(std::move(mutex).value(), std::move(held).value());
  }
  return Status(TAILRACE_CLIENT_IN_USE,
                fmt::format("other processes keep taking and releasing '{}'", job.directory().path_of(name)));
}

bool ServerLock::is_taken(const RuntimeDirectory& job, int server) {
  Result<FileMutex> mutex = FileMutex::open_existing(job.directory(), RuntimeDirectory::server_lock(server));
  if (!mutex.ok()) return false;
  const Result<FileMutex::Held> held = mutex.value().lock(Nanoseconds::zero());
  return !held.ok() && held.status().code() == TAILRACE_TIMEOUT;
}

ServerLock::~ServerLock() {
  if (held_ != nullptr) mutex_.remove();  // before the lock is released: no process may take one that goes
}

namespace {

void announce(int descriptor, std::span<const std::byte> bytes) {
  Result<UnixSocket> socket = UnixSocket::adopt(FileDescriptor(descriptor), "the process that started this one");
  // A peer that no longer listens does not need to know.
  if (socket.ok()) (void)socket.value().send(bytes, {}, Nanoseconds::zero());
}

}  // namespace

void announce_ready(int descriptor) { announce(descriptor, std::as_bytes(std::span(kReady))); }

void announce_failure(int descriptor, const Status& status) {
  const FailureRecord record = to_record(0, status);
  announce(descriptor, std::as_bytes(std::span(&record, 1)));
}

}  // namespace tailrace::impl
