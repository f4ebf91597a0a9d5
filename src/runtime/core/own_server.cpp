#include "runtime/core/own_server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/deadline.hpp"
#include "base/os/file_mutex.hpp"
#include "place/core/rendezvous.hpp"
#include "recovery/ledger_file.hpp"
#include "runtime/core/client_note.hpp"
#include "runtime/output/output_directories.hpp"
#include "runtime/parts/descriptors.hpp"
#include "runtime/parts/make_format.hpp"
#include "runtime/parts/open_storage.hpp"

namespace tailrace::impl {
namespace {

constexpr Nanoseconds kElection = std::chrono::seconds(30);  // limit for all clients before this one

}  // namespace

OwnServer::OwnServer(RuntimeDirectory& job, int client, const Config& config, Log& log)
    : job_(job), client_(client), config_(config), log_(log) {}

OwnServer::~OwnServer() = default;

Result<std::unique_ptr<StandIn>> OwnServer::take_over(RuntimeDirectory& job, int server, int client,
                                                      const Config& config, const Segment& segment, Log& log) {
  std::unique_ptr<OwnServer> own(new OwnServer(job, client, config, log));
  // Steps that may fail come first: from take_client() on, no other process can continue for the client.
  Status status = own->build(segment);
  if (status.ok()) status = own->take_client(server);
  if (status.ok()) status = own->begin();
  if (!status.ok()) return status;
  return std::unique_ptr<StandIn>(std::move(own));
}

Status OwnServer::build(const Segment& segment) {
  if (Status usable = check_format(config_); !usable.ok()) return usable;
  FileDescriptor file(fcntl(segment.fd(), F_DUPFD_CLOEXEC, 0));
  if (!file.is_open()) return Status::of_errno("duplicate", "the client's segment", errno);
  auto view = Segment::map(std::move(file), segment.sizes(), segment.pool().size());
  if (!view.ok()) return view.status();
  segment_ = std::move(view).value();
  auto parts = ServerParts::build(config_, {}, clock_, doorbell_, log_);
  if (!parts.ok()) return parts.status();
  parts_ = std::move(parts).value();
  return {};
}

// Takes the client over, with the dead server's lock, so that no other server begins meanwhile. If the process dies
// in here, the client's note names either the dead server or this one, never both.
Status OwnServer::take_client(int server) {
  Result<FileMutex> election = FileMutex::open(job_.directory(), RuntimeDirectory::election_lock());
  if (!election.ok()) return election.status();
  // Only one process at a time may take a client over or start a server.
  const Result<FileMutex::Held> elected = election.value().lock(kElection);
  if (!elected.ok()) return elected.status();
  const Result<ServerLock> lock = ServerLock::take(job_, server);
  if (!lock.ok()) return lock.status();
  Result<ClientNote> note = ClientNote::read(job_.directory(), client_);
  if (!note.ok()) return note.status();
  if (note.value().server != server) {
    return Status(TAILRACE_INTERNAL,
                  fmt::format("client {} is served by server {}, expected {}", client_, note.value().server, server));
  }
  // Only now: a server that another client starts meanwhile would find the files locked, and not serve this client.
  auto locks = take_output_directories(config_, parts_.storage->files(), fmt::format("c{}", client_), client_, log_);
  if (!locks.ok()) return locks.status();
  locks_ = std::move(locks).value();
  if (Status status = copy_ledger(server); !status.ok()) return status;
  run_ = note.value().run;
  began_ = note.value().began;
  note.value().server = RuntimeDirectory::own_server(client_);
  if (Status status = note.value().replace(job_.directory(), client_); !status.ok()) return status;
  clean_up_after(server);
  return {};
}

Status OwnServer::copy_ledger(int server) {
  const PrivateDirectory& directory = job_.directory();
  Result<std::unique_ptr<LedgerFile>> old = LedgerFile::open(directory, RuntimeDirectory::server_ledger(server));
  if (!old.ok()) return old.status();
  Result<std::vector<LedgerRecord>> records = old.value()->read();
  if (!records.ok()) return records.status();
  for (const LedgerRecord& of : records.value()) {
    if (of.kind == LedgerRecord::Kind::given_up) return Ledger::lost_with(Ledger::failure_of(of));
  }
  std::erase_if(records.value(), [this](const LedgerRecord& of) { return of.client != client_; });
  const std::string name = RuntimeDirectory::server_ledger(RuntimeDirectory::own_server(client_));
  Result<std::unique_ptr<LedgerFile>> own = LedgerFile::open(directory, name);
  if (!own.ok()) return own.status();
  return own.value()->replace(records.value());
}

// The last of its clients removes what the dead server has left.
void OwnServer::clean_up_after(int server) {
  const PrivateDirectory& directory = job_.directory();
  const Result<std::vector<std::string>> names = directory.names();
  if (!names.ok()) return;
  for (const int client : RuntimeDirectory::noted_clients(names.value())) {
    const Result<ClientNote> note = ClientNote::read(directory, client);
    if (!note.ok() || note.value().server == server) return;
  }
  (void)directory.remove_file(RuntimeDirectory::server_ledger(server));
  (void)directory.remove_file(RuntimeDirectory::server_socket(server));
  (void)directory.remove_file(RuntimeDirectory::fresh_segment(server));
  (void)directory.remove_file(ClientNote::fresh_name(server));
}

Status OwnServer::begin() {
  const std::string name = RuntimeDirectory::server_ledger(RuntimeDirectory::own_server(client_));
  Result<std::unique_ptr<LedgerFile>> file = LedgerFile::open(job_.directory(), name);
  if (!file.ok()) return file.status();
  Result<Ledger> ledger = Ledger::open(std::move(file).value(), log_);
  if (!ledger.ok()) return ledger.status();
  ledger_ = std::move(ledger).value();
  const auto format = [this](int client, const Config& of) {
    return make_format(of, parts_.storage->files(), client, run_);
  };
  const auto descriptors = [](uint64_t) { return descriptors_in_program(); };
  core_.emplace(clock_, processes_, doorbell_, *ledger_, log_, ServerCore::Options{});
  core_->equip(config_, {*parts_.engine, format, parts_.crew.get(), descriptors, 1});
  ServerCore::Guest guest{segment_->channel(), segment_->control().server_asleep, ::getpid()};
  guest.always_waits = true;
  core_->adopt(client_, config_, guest, began_, true, false);
  core_->take_up_ledger();
  return {};
}

void OwnServer::work(FunctionRef<bool()> done, Nanoseconds at_most) {
  const auto outer_done = std::exchange(done_, &done);
  const auto outer_at_most = std::exchange(at_most_, at_most);
  (void)core_->step(*this);
  done_ = outer_done;
  at_most_ = outer_at_most;
}

void OwnServer::wait(std::optional<Nanoseconds> limit) {
  doorbell_.sleep(std::min(at_most_, limit.value_or(at_most_)));
}

void OwnServer::distrusted(int client, const Status& why) {
  log_.error("client {}: {}", client, why.fault().message);
  lost_ = Status(TAILRACE_SERVER_LOST,
                 fmt::format("client {}, which serves itself, is lost: {}", client, why.fault().message));
}

bool OwnServer::idle() const { return dismissed_ || (segment_->channel().ring.empty() && core_->settled(client_)); }

bool OwnServer::finish(Nanoseconds patience) {
  const Deadline deadline(patience);
  const auto is_done = [this] { return dismissed_ && parts_.engine->idle(); };
  if (lost_.ok()) core_->lose(client_, false);
  while (!is_done() && deadline.left() > Nanoseconds::zero()) work(is_done, deadline.left());
  if (!is_done()) return false;
  core_->finish();
  core_.reset();
  locks_.clear();
  const PrivateDirectory& directory = job_.directory();
  (void)directory.remove_file(RuntimeDirectory::client_segment(client_));
  (void)ClientNote::remove(directory, client_);
  ledger_->remove();
  (void)job_.remove_if_unused();
  return true;
}

}  // namespace tailrace::impl
