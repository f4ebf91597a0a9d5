#include "runtime/core/own_server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/deadline.hpp"
#include "base/os/file_mutex.hpp"
#include "format/hdf5/hdf5_format.hpp"
#include "place/core/rendezvous.hpp"
#include "recovery/ledger_file.hpp"
#include "runtime/core/client_note.hpp"
#include "runtime/output/output_directories.hpp"
#include "runtime/parts/descriptors.hpp"
#include "runtime/parts/engine_options.hpp"
#include "runtime/parts/filter_threads.hpp"
#include "runtime/parts/make_scheduler.hpp"
#include "runtime/parts/open_storage.hpp"
#include "runtime/parts/provenance.hpp"

namespace tailrace::impl {
namespace {

constexpr Nanoseconds kElection = std::chrono::seconds(30);  // for all others before this one

}  // namespace

OwnServer::OwnServer(RuntimeDirectory& job, int client, const Config& config, Log& log)
    : job_(job), client_(client), config_(config), log_(log), rings_(*this) {}

OwnServer::~OwnServer() = default;

Result<std::unique_ptr<StandIn>> OwnServer::take_over(RuntimeDirectory& job, int server, int client,
                                                      const Config& config, const Segment& segment, Log& log) {
  std::unique_ptr<OwnServer> own(new OwnServer(job, client, config, log));
  // What may fail comes first: from take_client() on nobody else can go on for the client.
  Status status = own->build(segment);
  if (status.ok()) status = own->take_client(server);
  if (status.ok()) status = own->begin();
  if (!status.ok()) return status;
  return std::unique_ptr<StandIn>(std::move(own));
}

Status OwnServer::build(const Segment& segment) {
  if (Status usable = Hdf5Format::check_usable(); !usable.ok()) return usable;
  auto locks = take_output_directories(config_, fmt::format("c{}", client_), log_);
  if (!locks.ok()) return locks.status();
  locks_ = std::move(locks).value();
  FileDescriptor file(fcntl(segment.fd(), F_DUPFD_CLOEXEC, 0));
  if (!file.is_open()) return Status::of_errno("duplicate", "the client's segment", errno);
  auto view = Segment::map(std::move(file), segment.sizes(), segment.pool().size());
  if (!view.ok()) return view.status();
  segment_ = std::move(view).value();
  auto storage = open_storage(config_, {}, doorbell_, log_);
  if (!storage.ok()) return storage.status();
  storage_ = std::move(storage).value();
  scheduler_ = make_scheduler(config_);
  engine_ = std::make_unique<Engine>(*storage_, *scheduler_, clock_, engine_options(config_, false));
  crew_ = std::make_unique<FilterCrew>(clock_, doorbell_, filter_threads(config_, {}));
  return {};
}

// With the dead server's lock, so that no other one begins meanwhile. Whoever dies in here leaves the client to the
// dead server or to this one, and never to both: the note says to whom.
Status OwnServer::take_client(int server) {
  Result<FileMutex> election = FileMutex::open(job_.directory(), RuntimeDirectory::election_lock());
  if (!election.ok()) return election.status();
  // One after the other: clients, and whoever would start a server.
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
  if (Status status = copy_ledger(server); !status.ok()) return status;
  run_ = note.value().run;
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
  std::erase_if(records.value(), [this](const LedgerRecord& of) { return of.client != client_; });
  const std::string name = RuntimeDirectory::server_ledger(RuntimeDirectory::own_server(client_));
  Result<std::unique_ptr<LedgerFile>> own = LedgerFile::open(directory, name);
  if (!own.ok()) return own.status();
  return own.value()->replace(records.value());
}

// The last of its clients takes away what the dead server has left.
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
  const auto make_format = [this](int client, const Config& of) {
    return std::make_unique<Hdf5Format>(of, Hdf5Format::Options{client, machine_name(), date_now, run_});
  };
  const auto descriptors = [](uint64_t) { return descriptors_in_program(); };
  clients_.emplace(*engine_, *ledger_, log_, make_format, crew_.get(), descriptors, 1);
  RequestSink& sink = clients_->adopt(client_, config_, to_client_.emplace(segment_->channel()));
  clients_->take_up_ledger();
  rings_.add(client_, segment_->channel(), segment_->control().server_asleep, sink, ledger_->last_sequence(client_));
  return {};
}

// Returns whether there may be more to do at once.
bool OwnServer::move_on() {
  const ClientRings::Round round = rings_.work();
  for (const auto& [client, why] : round.distrusted) log_.error("client {}: {}", client, why.fault().message);
  return round.more;
}

void OwnServer::work(Nanoseconds at_most) {
  if (dismissed_ || move_on()) return;
  doorbell_.prepare();
  // Only now is a ring certain to be heard: look once more.
  const bool rung = !move_on() && wait_for_events(doorbell_.fd(), POLLIN, at_most) != 0;
  rung ? doorbell_.sleep() : doorbell_.cancel();
}

bool OwnServer::idle() const {
  return dismissed_ || (segment_->channel().ring.empty() && clients_->settled(client_));
}

void OwnServer::dismiss(int client) {
  clients_->dismiss(client);
  dismissed_ = true;
}

bool OwnServer::finish(Nanoseconds patience) {
  const Deadline deadline(patience);
  rings_.lose(client_, false);
  while (!dismissed_ && deadline.left() > Nanoseconds::zero()) work(deadline.left());
  while (dismissed_ && !engine_->idle() && deadline.left() > Nanoseconds::zero()) {
    doorbell_.prepare();
    engine_->progress();
    const bool rung = !engine_->idle() && wait_for_events(doorbell_.fd(), POLLIN, deadline) != 0;
    rung ? doorbell_.sleep() : doorbell_.cancel();
  }
  if (!dismissed_ || !engine_->idle()) return false;
  clients_.reset();
  locks_.clear();
  const PrivateDirectory& directory = job_.directory();
  (void)directory.remove_file(RuntimeDirectory::client_segment(client_));
  (void)ClientNote::remove(directory, client_);
  ledger_->remove();
  (void)job_.remove_if_unused();
  return true;
}

}  // namespace tailrace::impl
