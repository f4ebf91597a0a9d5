#include "runtime/core/job_status.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/os/file_descriptor.hpp"
#include "base/os/process.hpp"
#include "base/os/unix_socket.hpp"
#include "channel/channel_memory.hpp"
#include "place/core/rendezvous.hpp"
#include "place/core/runtime_directory.hpp"
#include "place/core/segment.hpp"
#include "runtime/core/client_message.hpp"
#include "runtime/core/client_note.hpp"
#include "runtime/measurements/files_json.hpp"
#include "runtime/measurements/iterations_json.hpp"

namespace tailrace::impl {
namespace {

using Json = nlohmann::json;

constexpr Nanoseconds kConnect = std::chrono::seconds(1);

// The counters of both sides in a segment, mapped read-only. None if the file is not one that a server makes.
class Counted {
 public:
  Counted(const FileDescriptor& file, uint64_t pool, uint64_t size) {
    const bool whole = pool % static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) == 0 && size >= sizeof(ChannelControl) &&
                       pool <= size - sizeof(ChannelControl);
    if (!whole) return;
    memory_ = mmap(nullptr, sizeof(ChannelControl), PROT_READ, MAP_SHARED, file.get(), static_cast<off_t>(pool));
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() {
    if (memory_ != MAP_FAILED) munmap(memory_, sizeof(ChannelControl));
  }
  const ChannelControl* get() const {
    return memory_ == MAP_FAILED ? nullptr : static_cast<const ChannelControl*>(memory_);
  }

 private:
  void* memory_ = MAP_FAILED;
};

Json files_json(const ChannelControl& control) {
  Json files = Json::array();
  for (const FileFigures& of : FileLog::read(control.files)) files.emplace_back(file_json(of));
  return files;
}

uint64_t less(uint64_t from, uint64_t what) { return from > what ? from - what : 0; }

// Reads the numbers one by one while others change them, so differences are clamped at 0.
Json counted(const ChannelControl& control) {
  const ServerCounters& of = control.counters;
  // relaxed: this reads nothing that the ring orders.
  const uint32_t waiting =
      control.ring.pushed.load(std::memory_order_relaxed) - control.ring.popped.load(std::memory_order_relaxed);
  const uint64_t ended = of.blocks_written.get() + of.blocks_failed.get();
  const uint64_t bytes_ended = of.bytes_written.get() + of.bytes_failed.get();
  // relaxed: see above.
  const bool closed = control.client_state.load(std::memory_order_relaxed) == ChannelControl::kClientLeft;
  return {{"closed", closed},
          {"verbs_waiting", waiting},
          {"blocks_pending", less(of.blocks_accepted.get(), ended)},
          {"bytes_pending", less(of.bytes_accepted.get(), bytes_ended)},
          {"blocks_written", of.blocks_written.get()},
          {"blocks_failed", of.blocks_failed.get()},
          {"bytes_written", of.bytes_written.get()},
          {"iterations_published", of.iterations_published.get()},
          {"iterations_failed", of.iterations_failed.get()},
          {"iterations_unfinished", IterationTable<>::count(control.unfinished)},
          {"iterations_limit", IterationTable<>::limit(control.unfinished)},
          {"busy_seconds", static_cast<double>(of.busy_nanoseconds.get()) * 1e-9},
          {"iterations", iterations_json(IterationLog::read(control.iterations))},
          {"files", files_json(control)}};
}

// A server's note of a client when it came; see CoreServer.
struct Noted {
  std::optional<int> server;
  pid_t process = 0;
  bool alive = false;
  std::optional<Config> config;

  // Returns true if the client has been its own server since its server died (on_server_loss: sync).
  bool serves_itself() const { return server && *server >= RuntimeDirectory::kFirstOwnServer; }
};

Noted noted(const PrivateDirectory& directory, int client) {
  const Result<ClientNote> note = ClientNote::read(directory, client);
  if (!note.ok()) return {};
  Noted noted{note.value().server, note.value().process, note.value().alive(), std::nullopt};
  const Result<ClientMessage> message = decode_client(note.value().message);
  Result<Config> config = message.ok() ? config_of(message.value()) : Result<Config>(message.status());
  if (config.ok()) noted.config = std::move(config).value();
  return noted;
}

Json client_status(const PrivateDirectory& directory, int client, const Noted& of) {
  Json json = {{"client", client}, {"process", of.process}, {"alive", of.alive}};
  if (of.server && !of.serves_itself()) json["server"] = *of.server;
  if (of.serves_itself()) json["serves_itself"] = true;
  if (of.config) {
    json["name"] = of.config->name;
    json["output"] = of.config->storage.paths;
    json["budget"] = of.config->memory.budget;
  }
  const Result<FileDescriptor> file = directory.open_file(RuntimeDirectory::client_segment(client), O_RDONLY);
  struct stat about {};
  if (!file.ok() || fstat(file.value().get(), &about) != 0) return json;
  json["segment_bytes"] = about.st_size;
  if (!of.config) return json;
  const uint64_t pool = Segment::pool_of(of.config->memory.budget);
  const Counted part(file.value(), pool, static_cast<uint64_t>(about.st_size));
  if (part.get() != nullptr) json.update(counted(*part.get()));
  return json;
}

Json server_status(const RuntimeDirectory& job, int server) {
  const bool alive = ServerLock::is_taken(job, server);
  Json json = {{"server", server}, {"alive", alive}};
  if (!alive) return json;
  // Connect only to learn the peer's identity; the connection is closed without a word.
  const auto socket = UnixSocket::connect(job.directory(), RuntimeDirectory::server_socket(server), kConnect);
  if (!socket.ok() || !socket.value().check_same_user().ok()) return json;
  const pid_t process = socket.value().peer().pid;
  json["process"] = process;
  json["age_seconds"] = process_age(process);
  return json;
}

// Returns the node's servers, without clients that serve themselves.
std::set<int> node_servers(const std::vector<std::string>& names) {
  const std::vector<int> all = RuntimeDirectory::servers_of(names);
  return {all.begin(), std::lower_bound(all.begin(), all.end(), RuntimeDirectory::kFirstOwnServer)};
}

// Opens the job's directory as it is, and creates nothing. Returns none if it has gone.
Result<std::optional<RuntimeDirectory>> open_job(const std::string& root, const std::string& job) {
  Result<RuntimeDirectory> directory = RuntimeDirectory::open_existing(root, job);
  if (directory.ok()) return std::optional(std::move(directory).value());
  if (directory.status().fault().system_errno == ENOENT) return std::optional<RuntimeDirectory>();
  return directory.status();
}

// Returns true if the job's name is made of `directory`, its first output directory.
bool is_named_after(const std::string& job, const std::string& directory) {
  return RuntimeDirectory::job_name(std::string(RuntimeDirectory::name_in(job)), directory) == job;
}

// Returns true if a server has left what it removes when it ends by itself. (A ledger is for the next run.)
bool has_died(const std::vector<std::string>& names) {
  const std::vector<int> servers = RuntimeDirectory::servers_of(names);
  const auto is_there = [&](const std::string& name) { return std::count(names.begin(), names.end(), name) > 0; };
  return !RuntimeDirectory::noted_clients(names).empty() ||
         std::any_of(servers.begin(), servers.end(), [&](int server) {
           return is_there(RuntimeDirectory::server_socket(server)) ||
                  is_there(RuntimeDirectory::fresh_segment(server));
         });
}

// Returns null if there is nothing to tell: the servers have ended, and left at most a ledger for the next run. Only
// clients tell where a job writes; what died before one came is told for its directory alone, from which its name
// was made.
Result<Json> one_job(const RuntimeDirectory& job, const std::string& directory) {
  const Result<std::vector<std::string>> names = job.directory().names();
  if (!names.ok()) return names.status();
  std::set<int> servers = node_servers(names.value());
  Json json = {{"job", job.job()}, {"clients", Json::array()}, {"servers", Json::array()}};
  std::set<std::string> output;
  uint64_t shared = 0;
  bool alive = false;
  for (const int client : RuntimeDirectory::clients_of(names.value())) {
    const Noted of = noted(job.directory(), client);
    alive = alive || of.alive;
    if (of.config) output.insert(of.config->storage.paths.begin(), of.config->storage.paths.end());
    if (of.server && !of.serves_itself()) servers.insert(*of.server);
    Json status = client_status(job.directory(), client, of);
    shared += status.value("segment_bytes", uint64_t{0});
    json["clients"].push_back(std::move(status));
  }
  for (const int server : servers) {
    json["servers"].push_back(server_status(job, server));
    alive = alive || json["servers"].back()["alive"].get<bool>();
  }
  const bool is_its = !directory.empty() && is_named_after(job.job(), directory);
  if (is_its) output.insert(directory);
  if (json["clients"].empty() && !alive && !(is_its && has_died(names.value()))) return Json();
  json["alive"] = alive;
  json["output"] = output;
  json["shared_bytes"] = shared;
  return json;
}

}  // namespace

Result<std::string> job_status(const std::string& root, const std::string& job, const std::string& output) {
  std::vector<std::string> wanted = {job};
  if (job.empty()) {
    Result<std::vector<std::string>> all = RuntimeDirectory::jobs(root);
    if (!all.ok()) return all.status();
    wanted = std::move(all).value();
  }
  Json json = {{"root", root}, {"jobs", Json::array()}};
  for (const std::string& name : wanted) {
    const Result<std::optional<RuntimeDirectory>> directory = open_job(root, name);
    if (!directory.ok()) return directory.status();
    if (!directory.value()) continue;
    Result<Json> status = one_job(*directory.value(), output);
    // The job may end, and remove its directory, meanwhile.
    if (!status.ok() && status.status().fault().system_errno == ENOENT) continue;
    if (!status.ok()) return status.status();
    if (!status.value().is_null()) json["jobs"].push_back(std::move(status).value());
  }
  // Names and paths need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Result<std::vector<int>> servers_of(const std::string& root, const std::string& job) {
  const Result<std::optional<RuntimeDirectory>> directory = open_job(root, job);
  if (!directory.ok()) return directory.status();
  if (!directory.value()) return std::vector<int>();
  const PrivateDirectory& in = directory.value()->directory();
  const Result<std::vector<std::string>> names = in.names();
  if (!names.ok()) return names.status();
  const std::vector<int> with_files = RuntimeDirectory::servers_of(names.value());
  std::set<int> servers(with_files.begin(), with_files.end());
  for (const int client : RuntimeDirectory::clients_of(names.value())) {
    if (const Noted of = noted(in, client); of.server) servers.insert(*of.server);
  }
  return std::vector<int>(servers.begin(), servers.end());
}

}  // namespace tailrace::impl
