#include "runtime/core/core_server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <system_error>

#include "action/find_plugin_host.hpp"
#include "base/descriptor_limit.hpp"
#include "base/limited_log.hpp"
#include "base/memory/memory_guard.hpp"
#include "base/os/process.hpp"
#include "base/os/unix_socket.hpp"
#include "config/config_difference.hpp"
#include "format/hdf5/hdf5_format.hpp"
#include "place/busy_cpus.hpp"
#include "place/core/rendezvous.hpp"
#include "place/core/server_cpu.hpp"
#include "place/core/server_executable.hpp"
#include "recovery/ledger_file.hpp"
#include "runtime/core/client_message.hpp"
#include "runtime/core/client_note.hpp"
#include "runtime/output/earlier_files.hpp"
#include "runtime/output/output_directories.hpp"
#include "runtime/parts/descriptors.hpp"
#include "runtime/parts/make_format.hpp"
#include "runtime/parts/open_storage.hpp"
#include "runtime/parts/provenance.hpp"

namespace tailrace::impl {
namespace {

constexpr int kMostServers = 64;  // of a node: place.cores

ChannelSizes sizes_of(const Config& config) {
  return ChannelSizes{.variables = static_cast<uint32_t>(config.variables.size())};
}

uint64_t pool_of(const Config& config) { return Segment::pool_of(config.memory.budget); }

// Returns how much of the pool is taken before the client uses it: two iterations, as one is made while the other is
// written. How large raw files are is not known, so all is taken for those who write them.
uint64_t ahead_of(const Config& config) {
  constexpr uint64_t kLeast = uint64_t{64} << 20;
  if (config.variables.empty() || !config.storage.files.empty()) return UINT64_MAX;
  uint64_t iteration = 0;
  for (const Variable& variable : config.variables) iteration += config.layout_of(variable).bytes();
  return std::max(2 * iteration, kLeast);
}

Status not_common(const std::string& key, const std::string& found, const std::string& expected) {
  return Status(TAILRACE_INVALID_CONFIG,
                fmt::format("the clients of a node's server write by one configuration: found {} '{}', expected '{}'",
                            key, found, expected));
}

// Clients that another process has started may differ in these.
Status check_rights(const FileRights& rights, const FileRights& common) {
  if (rights.umask != common.umask) {
    return not_common("umask", fmt::format("{:04o}", rights.umask), fmt::format("{:04o}", common.umask));
  }
  if (rights.group != common.group) {
    return not_common("group", std::to_string(rights.group), std::to_string(common.group));
  }
  if (rights.size_limit != common.size_limit) {
    return not_common("ulimit -f", std::to_string(rights.size_limit), std::to_string(common.size_limit));
  }
  return {};
}

// Returns ok if a client's configuration has what all clients of a server have in common. Logs what the server takes
// from the first client though it differs.
Status check_common(const Config& config, const Config& common, Log& log) {
  const auto differs = config_difference(config, common);
  if (differs) return not_common(differs->key, differs->found, differs->expected);
  for (const ConfigDifference& ignored : ignored_differences(config, common)) {
    log.warning("a client has {} '{}': in its server, that of the first client counts, '{}'", ignored.key,
                ignored.found, ignored.expected);
  }
  return {};
}

// Removes the locks of a client of which nothing is needed. Its configuration may be that of another run than this
// server's.
void unlock_outputs(int client, const ClientNote& note, const Clock& clock, Log& log) {
  const Result<ClientMessage> message = decode_client(note.message);
  const Result<Config> config = message.ok() ? config_of(message.value()) : Result<Config>(message.status());
  if (!config.ok()) return;
  Doorbell doorbell;
  const Result<ServerParts> parts = ServerParts::build(config.value(), {}, clock, doorbell, log);
  if (!parts.ok()) return;
  FileSystem& files = parts.value().storage->files();
  (void)take_output_directories(config.value(), files, fmt::format("c{}", client), client, log);
  if (!config.value().storage.shares_files()) return;
  (void)take_output_directories(config.value(), files, shared_writer_of(config.value()), 0, log);
}

}  // namespace

std::string default_runtime_root() { return RuntimeDirectory::default_root(); }

Result<std::string> core_server_program() { return find_server_executable({}); }

CoreServer::CoreServer(const CoreServerOptions& options, RuntimeDirectory& job, Log& log)
    : options_(options), job_(job), log_(log) {}

CoreServer::~CoreServer() = default;

Status CoreServer::run(const CoreServerOptions& options) {
  survive_lost_memory();          // clients can truncate their segments
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes becomes an error of the write
  raise_descriptor_limit();       // it opens many clients' files
  const auto fail = [&](const Status& status) {
    announce_failure(options.announce, status);
    return status;
  };
  auto opened = open_log(log_level_of(options.log_level), options.log_file,
                         fmt::format("tailrace core {} of {}", options.server, options.job));
  if (!opened.ok()) return fail(opened.status());
  LimitedLog log(*opened.value(), log_level_of(options.log_level));  // limited, since clients decide how much is
                                                                     // logged
  Result<RuntimeDirectory> job = RuntimeDirectory::open(options.root, options.job);
  if (!job.ok()) return fail(job.status());
  Status status;
  bool announced = false;
  {
    Result<ServerLock> lock = ServerLock::take(job.value(), options.server);
    if (!lock.ok()) return fail(lock.status());
    if (!options.drain || options.server < RuntimeDirectory::kFirstOwnServer) {
      drain_own_servers(options, job.value(), log);
    }
    status = serve(options, job.value(), log, announced);
  }
  (void)job.value().remove_if_unused();
  // Report it last: a client that hears it finds nothing of this server, and removes the rest.
  return status.ok() || announced ? status : fail(status);
}

// Fails if the system has no descriptors or no threads for a server.
Status CoreServer::serve(const CoreServerOptions& options, RuntimeDirectory& job, Log& log, bool& announced) {
  try {
    CoreServer server(options, job, log);
    Status status = server.serve();
    announced = server.announced_;
    return status;
  } catch (const std::system_error& error) {
    return Status::of_errno("serve", error.what(), error.code().value());
  }
}

// Writes the data of clients that were their own servers and have died, so that the next client finds them
// written. They are few, since such clients had written everything but their last verb.
void CoreServer::drain_own_servers(const CoreServerOptions& options, RuntimeDirectory& job, Log& log) {
  const auto names = job.directory().names();
  if (!names.ok()) return;
  for (const int server : RuntimeDirectory::servers_of(names.value())) {
    if (server < RuntimeDirectory::kFirstOwnServer) continue;
    CoreServerOptions own = options;
    own.server = server;
    own.drain = true;
    own.announce = -1;
    const Result<ServerLock> lock = ServerLock::take(job, server);
    bool announced = false;
    const Status status = lock.ok() ? serve(own, job, log, announced) : lock.status();
    if (status.ok() || status.code() == TAILRACE_CLIENT_IN_USE) continue;
    log.error("the leftovers of client {} stay as they are: {}", server - RuntimeDirectory::kFirstOwnServer,
              status.fault().message);
  }
}

// Leaves a client that is its own server alone while it lives.
Status CoreServer::check_own_server() const {
  const int client = options_.server - RuntimeDirectory::kFirstOwnServer;
  if (client < 0) return {};
  const Result<ClientNote> note = ClientNote::read(job_.directory(), client);
  if (!note.ok() || !note.value().alive()) return {};
  return Status(TAILRACE_CLIENT_IN_USE,
                fmt::format("client {} lives (process {}), and is its own server", client, note.value().process));
}

Status CoreServer::serve() {
  if (Status status = check_own_server(); !status.ok()) return status;
  // Remove files that a server was making when it died.
  (void)job_.directory().remove_file(ClientNote::fresh_name(options_.server));
  (void)job_.directory().remove_file(RuntimeDirectory::fresh_segment(options_.server));
  Result<std::unique_ptr<LedgerFile>> file =
      LedgerFile::open(job_.directory(), RuntimeDirectory::server_ledger(options_.server));
  if (!file.ok()) return file.status();
  Result<Ledger> ledger = Ledger::open(std::move(file).value(), log_);
  if (!ledger.ok()) return ledger.status();
  ledger_ = std::move(ledger).value();
  if (Status status = abandon_all(); !status.ok()) return status;
  Result<EpollSet> epoll = EpollSet::create();
  if (!epoll.ok()) return epoll.status();
  Result<UnixListener> listener =
      UnixListener::listen(job_.directory(), RuntimeDirectory::server_socket(options_.server));
  if (!listener.ok()) return listener.status();
  ServerCore::Options options;
  options.drain = options_.drain;
  options.first_client_in = options_.drain ? std::optional(Nanoseconds::zero()) : options_.first_client_in;
  core_.emplace(clock_, processes_, doorbell_, *ledger_, log_, options);
  acceptor_.emplace(job_.directory(), listener.value(), epoll.value(), doorbell_,
                    static_cast<CoreAcceptor::Host&>(*this), log_, RuntimeDirectory::fresh_segment(options_.server));
  if (Status status = adopt_all(); !status.ok()) {
    acceptor_.reset();  // it refers to objects that end here
    return status;
  }
  core_->take_up_ledger();
  announced_ = true;
  announce_ready(options_.announce);
  core_->run(*acceptor_);
  acceptor_.reset();  // admit no more clients
  if (abandoned_.ok()) abandoned_ = core_->unwritten();
  const bool keeps_ledger = core_->finish() || left_aside_;
  core_.reset();
  parts_.engine.reset();
  if (!keeps_ledger) ledger_->remove();
  return options_.drain ? abandoned_ : Status();
}

// ---- taking over from an earlier server ------------------------------------------------------------------

// Gives up the clients of an earlier server that could not write its ledger: it is unknown what it had accepted and
// not yet written. Those that live learn that when they come back.
Status CoreServer::abandon_all() {
  if (ledger_->is_whole().ok()) return {};
  const auto names = job_.directory().names();
  if (!names.ok()) return names.status();
  std::vector<int> clients;
  for (const int client : RuntimeDirectory::noted_clients(names.value())) {
    const Result<ClientNote> note = ClientNote::read(job_.directory(), client);
    if (note.ok() && note.value().server == options_.server) clients.push_back(client);
  }
  abandoned_ = Ledger::lost_with(ledger_->is_whole());
  log_.error("{}; of clients {}, what was not in published files is lost", abandoned_.fault().message,
             fmt::join(clients, ", "));
  for (const int client : clients) remove_names(client);
  ledger_->clear();
  return {};
}

Status CoreServer::adopt_all() {
  const auto names = job_.directory().names();
  if (!names.ok()) return names.status();
  std::set<int> ours;
  adopting_ = true;
  for (const int client : RuntimeDirectory::noted_clients(names.value())) {
    const Result<ClientNote> note = ClientNote::read(job_.directory(), client);
    if (note.ok() && note.value().server != options_.server) continue;
    if (!note.ok() && note.status().fault().system_errno == ENOENT)
      continue;  // it belongs to another server, and
                 // has left
    const Status status = note.ok() ? adopt(client, note.value()) : note.status();
    if (!std::exchange(given_up_, {}).ok()) {
      // The client's data are not needed any more. If it lives, it learns that when it comes back.
      abandoned_ = status;
      log_.error("what an earlier server had of client {} is lost: {}", client, status.fault().message);
      remove_names(client);
      continue;
    }
    ours.insert(client);
    if (!status.ok()) {
      left_aside_ = true;
      log_.error("the leftovers of client {}, which an earlier server had, stay in '{}' as they are: {}", client,
                 job_.directory().path(), status.fault().message);
    }
  }
  adopting_ = false;
  ledger_->keep_only(ours);  // other clients have continued by themselves, and may come as new ones
  remove_forgotten(names.value());
  return {};
}

// Removes segments without a note, which no server leaves behind. Other servers may be admitting and dismissing
// clients meanwhile, so a segment is removed only if there are none.
void CoreServer::remove_forgotten(const std::vector<std::string>& names) const {
  for (const int client : RuntimeDirectory::clients_of(names)) {
    const auto is_noted = [&] {
      const Status status = ClientNote::read(job_.directory(), client).status();
      return status.ok() || status.fault().system_errno != ENOENT;
    };
    if (is_noted() || others_are_alive() || is_noted()) continue;
    (void)job_.directory().remove_file(RuntimeDirectory::client_segment(client));
  }
}

bool CoreServer::others_are_alive() const {
  for (int server = 0; server < kMostServers; ++server) {
    if (server != options_.server && ServerLock::is_taken(job_, server)) return true;
  }
  return false;
}

Status CoreServer::adopt(int client, const ClientNote& note) {
  Result<FileDescriptor> memory = job_.directory().open_file(RuntimeDirectory::client_segment(client), O_RDWR);
  // It was not welcomed yet, or not needed any more: there is nothing left to do for it.
  if (!note.served || (!memory.ok() && memory.status().fault().system_errno == ENOENT)) {
    (void)job_.directory().remove_file(RuntimeDirectory::client_segment(client));
    unlock_outputs(client, note, clock_, log_);
    return ClientNote::remove(job_.directory(), client);
  }
  if (!note.run.empty()) run_ = note.run;
  const Result<CoreAcceptor::Needs> needs = admit(client, note.process, note.message);
  if (!needs.ok()) return needs.status();
  Guest& guest = guests_[client];
  auto locks =
      take_output_directories(guest.config, parts_.storage->files(), fmt::format("c{}", client), client, log_);
  if (!locks.ok()) {
    guests_.erase(client);
    return locks.status();
  }
  guest.locks = std::move(locks).value();
  auto segment = memory.ok() ? Segment::map(std::move(memory).value(), needs.value().sizes, needs.value().pool)
                             : Result<std::unique_ptr<Segment>>(memory.status());
  if (!segment.ok()) {
    guests_.erase(client);
    return segment.status();
  }
  if (Status status = share_with_actions(client, *segment.value()); !status.ok()) {
    guests_.erase(client);
    return status;
  }
  std::optional<ProcessHandle> alive;
  if (note.alive()) {
    Result<ProcessHandle> handle = ProcessHandle::open(note.process);
    if (handle.ok()) alive = std::move(handle).value();
  }
  ChannelControl& control = segment.value()->control();
  const bool is_alive = alive.has_value();
  const bool has_left = control.client_state.load(std::memory_order_acquire) == ChannelControl::kClientLeft;
  const Members::Guest served{segment.value()->channel(), control.server_asleep, note.process};
  // The acceptor keeps the segment, or the client is not served.
  if (has_left) alive.reset();
  if (Status status = acceptor_->adopt(client, std::move(segment).value(), std::move(alive)); !status.ok()) {
    guests_.erase(client);
    return status;
  }
  core_->adopt(client, guest.config, served, note.began, is_alive, has_left);
  log_.warning("client {} is taken over from a server that died", client);
  return {};
}

// ---- CoreAcceptor::Host -------------------------------------------------------------------------------------------

Result<CoreAcceptor::Needs> CoreServer::admit(int client, pid_t process, const std::string& configuration) {
  Result<ClientMessage> message = decode_client(configuration);
  if (!message.ok()) return message.status();
  if (message.value().input.client != client) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("the client's number: found {} and {}", client, message.value().input.client));
  }
  guests_.erase(client);  // left from a client that could not come after all
  Result<Config> config = config_of(message.value());
  if (!config.ok()) return config.status();
  if (Status status = agree(config.value(), message.value().rights); !status.ok()) return status;
  const CoreAcceptor::Needs needs{sizes_of(config.value()), pool_of(config.value()), ahead_of(config.value())};
  guests_[client] = Guest{configuration, process, std::move(config).value(), {}};
  return needs;
}

// Builds storage and engine from the first client's configuration; the others must agree with it. Files get the
// rights of that client, not of the one that started this process.
Status CoreServer::agree(const Config& config, const FileRights& rights) {
  if (common_) {
    const Status status = check_rights(rights, rights_);
    return status.ok() ? check_common(config, *common_, log_) : status;
  }
  rights_ = rights;
  Status status = rights_.take_over();
  if (!status.ok() && adopting_) {  // better files of another group than none
    log_.warning("{}", status.fault().message);
    status = {};
  }
  if (status.ok()) status = begin_run(config);
  if (!status.ok()) common_.reset();  // the next client may have more luck
  return status;
}

Status CoreServer::begin_run(const Config& config) {
  auto [cpus, away] = bind_server(config.place.choice, config.place.cpus, options_.server);
  std::shared_ptr<CpuGroup> group;
  if (!cpus.empty()) {
    group = std::make_shared<CpuGroup>(CpuGroup::Options{
        .cpus = std::move(cpus), .away = std::move(away), .begins_away = every_cpu_is_busy(), .log = &log_});
  }
  auto parts = ServerParts::build(config, {group, true, turn_of(config)}, clock_, doorbell_, log_);
  if (!parts.ok()) return parts.status();
  if (config.storage.shares_files()) {
    FileSystem& output = parts.value().storage->files();
    if (adopting_) given_up_ = check_not_given_up(config, output, shared_writer_of(config));
    if (!given_up_.ok()) return given_up_;
    auto locks = take_output_directories(config, output, shared_writer_of(config), 0, log_);
    if (!locks.ok()) return locks.status();
    shared_locks_ = std::move(locks).value();
  }
  parts_ = std::move(parts).value();
  if (const int network = doorbell_.also_listens_to(); network >= 0) {
    if (Status status = acceptor_->watch(network); !status.ok()) return status;
  }
  if (run_.empty()) run_ = new_run();
  common_ = config;
  rehearse_format(config, 0);
  const auto format = [this](int client, const Config& of) {
    return make_format(of, parts_.storage->files(), client, run_);
  };
  if (Status status = prepare_actions(); !status.ok()) return status;
  core_->equip(config, {*parts_.engine, format, parts_.crew.get(), descriptors_in_server, clients_to_expect(),
                        actions_.get(), group});
  return {};
}

// Returns this server's turn among all servers of the job.
std::optional<Slots::Turn> CoreServer::turn_of(const Config& config) const {
  const int servers = config.place.nodes * config.place.cores;
  if (!config.storage.slots || servers == 1) return std::nullopt;
  return Slots::Turn{config.place.node * config.place.cores + options_.server, servers};
}

// Starts the plugin hosts, when the first client has come.
Status CoreServer::prepare_actions() {
  if (!ServerActions::needed(*common_)) return {};
  ActionOptions options;
  const Result<std::string> host = find_plugin_host(own_directory());
  options.host_executable = host.ok() ? host.value() : "tailrace-plugin-host";
  if (!host.ok()) log_.error("{}", host.status().fault().message);
  auto actions = ServerActions::create(*common_, std::move(options), clock_, log_);
  if (!actions.ok()) return actions.status();
  actions_ = std::move(actions).value();
  Status watched = acceptor_->watch(actions_->fd());
  if (!watched.ok()) actions_.reset();
  return watched;
}

// Shares the segment read-only, without the channel's parts.
Status CoreServer::share_with_actions(int client, const Segment& segment) {
  return actions_ ? actions_->add_segment(client, segment.fd(), segment.pool().size()) : Status();
}

// The work for a new client that asks the file system. It is carried out beside the server's thread.
struct CoreServer::Preparation {
  const Config config;
  const int client;
  const bool makes_way;  // for this run's files among those of an earlier run, before the first byte is written
  const bool looks;      // for the last iteration; the server does so, since forwarders may write the files
  Status status = {};
  std::vector<std::unique_ptr<NameLock>> locks = {};
  std::optional<Result<LastIteration>> last = {};

  void carry_out(FileSystem& files, Log& log) {
    auto taken = take_output_directories(config, files, fmt::format("c{}", client), client, log);
    status = taken.status();
    if (taken.ok()) locks = std::move(taken).value();
    if (status.ok() && makes_way) status = make_way(config, files, client, log);
    if (status.ok() && looks) last = impl::last_iteration(config, files, client);
    if (!status.ok()) locks.clear();
  }
};

// Clients that share files begin one after another until one of them has made way for all: is_busy().
Status CoreServer::prepare(int client, Segment& segment) {
  Guest& guest = guests_[client];
  Status status = share_with_actions(client, segment);
  if (status.ok()) status = put_names(client, guest);
  if (!status.ok()) {
    guests_.erase(client);
    return status;
  }
  guest.segment = &segment;
  const bool shares = guest.config.storage.shares_files();
  const bool makes_way = !shares || core_->came().empty();
  makes_way_ = shares && makes_way;
  const auto work =
      std::make_shared<Preparation>(Preparation{guest.config, client, makes_way, !(shares && shared_last_)});
  FileOperation operation{.kind = FileOperation::Kind::call,
                          .call = [this, work](FileSystem& files) { work->carry_out(files, log_); }};
  parts_.engine->carry_out(std::move(operation), 0, [this, client, work](const FileOperationEnd&) {
    Guest& newcomer = guests_.at(client);
    newcomer.prepared = work->status;
    newcomer.locks = std::move(work->locks);
    newcomer.last = work->last;
    acceptor_->prepared(client);
  });
  return {};
}

// Other clients may have come, or been given up, while this one's files were prepared.
Result<bool> CoreServer::serve(int client) {
  makes_way_ = false;
  Guest& guest = guests_.at(client);
  Status status = guest.prepared;
  bool waits = false;
  if (status.ok() && guest.config.storage.shares_files()) {
    const Result<bool> next_run = core_->is_of_next_run(client, guest.process);
    status = next_run.status();
    waits = next_run.ok() && next_run.value();
  }
  if (status.ok() && !waits) status = guest.note(options_.server, run_, true).replace(job_.directory(), client);
  if (!status.ok() || waits) {
    give_back(client);
    if (!status.ok()) return status;
    return false;
  }
  Segment& segment = *guest.segment;
  core_->begin(client, guest.config, {segment.channel(), segment.control().server_asleep, guest.process});
  return true;
}

// A client that an earlier server began to serve is looked for here.
Result<LastIteration> CoreServer::last_iteration(int client) {
  Guest& guest = guests_.at(client);
  const bool shares = guest.config.storage.shares_files();
  if (shares && shared_last_) return *shared_last_;
  if (!guest.last) guest.last = impl::last_iteration(guest.config, parts_.storage->files(), client);
  if (shares) shared_last_ = guest.last;
  return *guest.last;
}

Status CoreServer::unknown(int client) const {
  if (!abandoned_.ok()) return abandoned_;
  return Status(TAILRACE_SERVER_LOST, fmt::format("the node's server does not know client {}", client));
}

// Called when a client has come, so there is a storage.
std::string CoreServer::description() const {
  return fmt::format("core {}; storage {}", options_.server, parts_.storage->capabilities().name);
}

// Writes down what another server must know to continue for the client, and then names the segment. So a server that
// finds a segment knows its client, whenever this one dies.
Status CoreServer::put_names(int client, const Guest& guest) const {
  const PrivateDirectory& directory = job_.directory();
  if (Status status = guest.note(options_.server, run_, false).put(directory, client); !status.ok()) return status;
  const std::string fresh = RuntimeDirectory::fresh_segment(options_.server);
  const std::string name = RuntimeDirectory::client_segment(client);
  if (::renameat(directory.fd(), fresh.c_str(), directory.fd(), name.c_str()) == 0) return {};
  const Status status = Status::of_errno("name", directory.path_of(name), errno);
  (void)ClientNote::remove(directory, client);
  return status;
}

// Removes the names in the opposite order.
void CoreServer::remove_names(int client) const {
  (void)job_.directory().remove_file(RuntimeDirectory::client_segment(client));
  (void)ClientNote::remove(job_.directory(), client);
}

// Unlocks the output directories of a client, and forgets it. Its segment goes first: the process that takes the lock
// must find no data of it. Its note goes last, as in remove_names().
void CoreServer::give_back(int client) {
  (void)job_.directory().remove_file(RuntimeDirectory::client_segment(client));
  const auto locks = std::make_shared<std::vector<std::unique_ptr<NameLock>>>(std::move(guests_.at(client).locks));
  guests_.erase(client);
  if (locks->empty()) return remove_names(client);
  giving_back_.insert(client);
  FileOperation unlock{.kind = FileOperation::Kind::call, .call = [locks](FileSystem&) { locks->clear(); }};
  parts_.engine->carry_out(std::move(unlock), 0, [this, client](const FileOperationEnd&) {
    remove_names(client);
    giving_back_.erase(client);
    if (acceptor_) acceptor_->freed();
  });
}

}  // namespace tailrace::impl
