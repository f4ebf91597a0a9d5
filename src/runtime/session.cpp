#include "runtime/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "base/names/counted.hpp"
#include "place/core/core_place.hpp"
#include "place/core/server_executable.hpp"
#include "runtime/core/client_message.hpp"
#include "runtime/core/own_server.hpp"
#include "runtime/core/shared_leavings.hpp"
#include "runtime/output/earlier_files.hpp"
#include "runtime/output/output_directories.hpp"
#include "runtime/parts/descriptors.hpp"
#include "runtime/parts/make_format.hpp"
#include "runtime/parts/open_storage.hpp"
#include "runtime/parts/provenance.hpp"
#include "runtime/report.hpp"
#include "runtime/trace_file.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kMostLogged = 32;  // most failures logged at the program's end

// Returns the directory of the server's log. If forwarders write the files, their directories need not be here.
std::string log_directory(const Config& config) { return config.forward.on() ? "/tmp" : config.storage.paths[0]; }

}  // namespace

Result<std::unique_ptr<Session>> Session::open(const ConfigInput& input) {
  Result<Config> config = read_config(input);
  if (!config.ok()) return config.status();
  std::unique_ptr<Session> session(new Session(std::move(config).value(), input.client));
  const Config& of = session->config_;
  auto log = open_log(log_level_of(of.log.level), of.log.file, fmt::format("tailrace {}/{}", of.name, input.client));
  if (!log.ok()) return log.status();
  session->log_ = std::move(log).value();
  Status status = of.place.kind == PlaceKind::core ? session->build_for_core(input) : session->build_for_thread();
  if (!status.ok()) return status;
  session->client_ =
      std::make_unique<Client>(of, *session->place_, session->clock_, *session->log_, session->client_trace_);
  session->log_->info("{}", session->description_);
  return session;
}

// Chooses the writer's cpus. A list that this machine does not have is logged as an error: doors log nothing less.
CpuSet Session::choose_writer_cpus() const {
  CpuSet cpus = choose_cpus(config_.place.choice, config_.place.cpus, client_id_);
  if (config_.place.choice == CpuChoice::list && cpus.cpus.empty()) log_->error("the writer is {}", cpus.reason);
  return cpus;
}

// Builds everything in this process.
Status Session::build_for_thread() {
  if (Status usable = check_format(config_); !usable.ok()) return usable;
  const CpuSet cpus = choose_writer_cpus();
  cpus_ = group_of(cpus, *log_);
  auto parts = ServerParts::build(config_, {.cpus = cpus_, .timed = true}, clock_, doorbell_, *log_);
  if (!parts.ok()) return parts.status();
  parts_ = std::move(parts).value();
  FileSystem& output = parts_.storage->files();
  auto locks = take_output_directories(config_, output, fmt::format("c{}", client_id_), client_id_, *log_);
  if (!locks.ok()) return locks.status();
  locks_ = std::move(locks).value();
  if (config_.storage.existing != Existing::refuse) {
    for (const std::string& path : config_.storage.paths) {
      const std::string job = job_with_data_of(path, series_of(config_, client_id_));
      if (job.empty()) continue;
      return Status(TAILRACE_EXISTS,
                    fmt::format("data of an earlier run wait in shared memory, in job '{}': 'tailrace "
                                "recover {}' writes them",
                                job, path));
    }
  }
  if (Status way = make_way(config_, output, client_id_, *log_); !way.ok()) return way;
  last_iteration_ = impl::last_iteration(config_, output, client_id_);
  const uint64_t budget = config_.memory.budget / RangeAllocator::kPage * RangeAllocator::kPage;
  const bool prefault = config_.memory.prefault;
  auto place = ThreadPlace::create(budget, prefault, config_.variables.size(), cpus, doorbell_, cpus_);
  if (!place.ok()) return place.status();
  ThreadPlace& thread = *place.value();
  place_ = std::move(place).value();
  start_server(thread);
  description_ = fmt::format("place {}; storage {}", thread.description(), parts_.storage->capabilities().name);
  return {};
}

void Session::start_server(ThreadPlace& place) {
  const auto format = [this](int client, const Config& config) {
    return make_format(config, parts_.storage->files(), client, new_run());
  };
  const auto descriptors = [](uint64_t) { return descriptors_in_program(); };
  server_.emplace(clock_, processes_, doorbell_, *log_, client_id_, config_,
                  ServerCore::Equipment{*parts_.engine, format, parts_.crew.get(), descriptors, 1, nullptr, cpus_},
                  place.channel(), server_trace_);
  const auto use_memory = [this, memory = place.channel().memory] { parts_.storage->use_memory(memory); };
  // HDF5's first use is a third of open, if the calling thread makes it.
  const auto serve = [this] {
    rehearse_format(config_, client_id_);
    server_->run();
  };
  place.start(
      serve, [this] { server_->end(); }, use_memory);
}

// Builds the client's half. The other half is in the server's process, which this starts if there is none.
Status Session::build_for_core(const ConfigInput& input) {
  if (config_.storage.backend == Backend::memory) {
    return Status(TAILRACE_INVALID_CONFIG,
                  "storage.backend: found memory, which another process cannot see; "
                  "expected auto, uring or posix with place core");
  }
  // Create them here, since errors belong to this call and the server's log lies there. Those of forwarders are
  // elsewhere, and the server makes them.
  if (!config_.forward.on()) {
    Status made = make_output_directories(config_, *open_file_system(config_.storage.backend));
    if (!made.ok()) return made;
  }
  if (config_.place.choice == CpuChoice::list) (void)choose_writer_cpus();  // the server chooses by itself
  Result<std::string> program = find_server_executable(config_.place.server);
  if (!program.ok()) return program.status();
  Result<std::string> message = encode_client(input);
  if (!message.ok()) return message.status();
  CorePlace::Options options;
  options.root = RuntimeDirectory::default_root();
  options.job = RuntimeDirectory::job_name(config_.name, config_.storage.paths[0]);
  options.server = client_id_ % config_.place.cores;
  options.client = client_id_;
  options.configuration = std::move(message).value();
  options.restart = config_.place.on_server_loss == OnServerLoss::restart;
  if (config_.place.on_server_loss == OnServerLoss::sync) {
    options.stand_in = [this, server = options.server](RuntimeDirectory& job, const Segment& segment) {
      return OwnServer::take_over(job, server, client_id_, config_, segment, *log_);
    };
  }
  options.patience = std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(config_.place.patience));
  options.start.executable = std::move(program).value();
  options.start.own_log = config_.log.file.empty();
  options.start.log = config_.log.file.empty() ? fmt::format("{}/{}_core{}_{}.log", log_directory(config_),
                                                             config_.name, options.server, machine_name())
                                               : config_.log.file;
  options.start.arguments = {"--root",    options.root,      "--job",
                             options.job, "--server",        std::to_string(options.server),
                             "--log",     config_.log.level, "--started"};
  auto place = CorePlace::create(std::move(options), *log_);
  if (!place.ok()) return place.status();
  // The server has seen to unfinished files before it accepted this client.
  last_iteration_ = place.value()->last_iteration();
  place_ = std::move(place).value();
  description_ = "place " + place_->description();
  return {};
}

void Session::finish() {
  client_->finish();
  // From here on no other thread writes the data that are read below.
  place_->stop();
  const auto tell = [this](const Status& status) {
    if (!status.ok()) place_->channel().failures.add_own(status);
  };
  if (config_.measurements.report) tell(write_report(*this));
  if (config_.measurements.trace) tell(write_trace(*this));
  log_what_is_untold();
  log_what_was_cached();
}

// The close reports one of these failures, and the program may not ask for the others. Those of an iteration mostly
// have one cause, and are one line: that of its file, which names the first cause.
void Session::log_what_is_untold() {
  struct Line {
    const Fault* fault = nullptr;
    size_t failures = 0;
  };
  std::vector<Line> lines;
  std::map<int64_t, size_t> of_iterations;
  for (const FailureLog::Entry& entry : failures().untaken()) {
    const Fault& fault = entry.status.fault();
    size_t at = lines.size();
    if (fault.iteration >= 0) at = of_iterations.try_emplace(fault.iteration, at).first->second;
    if (at == lines.size()) lines.push_back({&fault, 0});
    if (fault.variable.empty()) lines[at].fault = &fault;
    ++lines[at].failures;
  }
  for (size_t at = 0; at < std::min(lines.size(), kMostLogged); ++at) {
    const auto& [fault, count] = lines[at];
    log_->error("{}{}", fault->message, count > 1 ? fmt::format(" ({} failures in this iteration)", count) : "");
  }
  if (lines.size() > kMostLogged) log_->error("… and more, {} failures in all", failures().unseen());
}

void Session::log_what_was_cached() {
  for (uint32_t variable = 0; variable < config_.variables.size(); ++variable) {
    const VariableCounters& counters = server_counters(variable);
    const uint64_t cached = counters.blocks_cached.get();
    if (cached == 0) continue;
    log_->warning(
        "variable '{}': {} of its {} went through the page cache, which is slower than bypassing it: the "
        "file system refused direct transfers, or the blocks lie in the file in pieces too short for them",
        config_.variables[variable].name, cached, counted(counters.blocks_written.get(), "block"));
  }
}

Session::~Session() {
  if (place_) place_->stop();
}

}  // namespace tailrace::impl
