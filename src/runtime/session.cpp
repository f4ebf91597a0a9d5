#include "runtime/session.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <filesystem>
#include <utility>

#include "format/hdf5/hdf5_format.hpp"
#include "runtime/open_storage.hpp"
#include "runtime/report.hpp"
#include "runtime/trace_file.hpp"

namespace tailrace::impl {
namespace {

LogLevel level_of(const std::string& name) {
  if (name == "info") return LogLevel::info;
  if (name == "error") return LogLevel::error;
  if (name == "off") return LogLevel::off;
  return LogLevel::warning;
}

std::string date_now() { return fmt::format("{:%Y-%m-%d %H:%M:%S} +0000", fmt::gmtime(std::time(nullptr))); }

std::string machine_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(const ConfigInput& input) {
  Result<Config> config = read_config(input);
  if (!config.ok()) return config.status();
  std::unique_ptr<Session> session(new Session(std::move(config).value(), input.client));
  const Config& of = session->config_;
  auto log = open_log(level_of(of.log.level), of.log.file, fmt::format("tailrace {}/{}", of.name, input.client));
  if (!log.ok()) return log.status();
  session->log_ = std::move(log).value();
  if (of.storage.backend != Backend::memory) {
    if (Status status = session->take_directories(input.client); !status.ok()) return status;
  }
  if (Status status = session->build(input.client); !status.ok()) return status;
  return session;
}

// Makes the output directories where they are missing, and locks this client's name in each.
Status Session::take_directories(int client) {
  for (const std::string& path : config_.storage.paths) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) return Status::of_errno("create directory", path, error.value());
    if (::access(path.c_str(), W_OK | X_OK) != 0) return Status::of_errno("write into directory", path, errno);
    Result<LockFile> lock = LockFile::acquire(fmt::format("{}/.{}_c{}.lock", path, config_.name, client));
    if (!lock.ok()) return lock.status();
    if (!lock.value().held()) {
      log_->warning("'{}' is on a file system without locks: a second client {} would not be noticed", path, client);
    }
    locks_.push_back(std::move(lock).value());
  }
  return {};
}

Status Session::build(int client) {
  const CpuSet cpus = choose_cpus(config_.place.choice, config_.place.cpus, client);
  const uint64_t budget = config_.memory.budget / RangeAllocator::kPage * RangeAllocator::kPage;
  auto place = ThreadPlace::create(budget, config_.variables.size(), cpus, doorbell_);
  if (!place.ok()) return place.status();
  place_ = std::move(place).value();
  auto storage = open_storage(config_, cpus.cpus, doorbell_, *log_);
  if (!storage.ok()) return storage.status();
  storage_ = std::move(storage).value();
  storage_->use_memory(place_->channel().memory);
  engine_ = std::make_unique<Engine>(*storage_, scheduler_, clock_, EngineOptions{});
  format_ = std::make_unique<Hdf5Format>(config_, Hdf5Format::Options{client, machine_name(), date_now});
  server_ = std::make_unique<Server>(config_, client, place_->channel(), *engine_, *format_, *log_, server_trace_);
  client_ = std::make_unique<Client>(config_, *place_, clock_, *log_, client_trace_);
  place_->start(*server_);
  description_ = fmt::format("place {}; storage {}", place_->description(), storage_->capabilities().name);
  log_->info("{}", description_);
  return {};
}

void Session::finish() {
  client_->finish();
  // From here on no other thread writes what is about to be read.
  place_->stop();
  const auto tell = [this](const Status& status) {
    if (!status.ok()) place_->channel().failures.add(kNoTicket, status);
  };
  if (config_.measurements.report) tell(write_report(*this));
  if (config_.measurements.trace) tell(write_trace(*this));
}

Session::~Session() {
  if (place_) place_->stop();
}

}  // namespace tailrace::impl
