#include "testing/session_rig.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "format/file_name.hpp"
#include "storage/posix/posix_storage.hpp"

namespace tailrace::impl {

SessionRig::SessionRig(Config config, SessionRigOptions options)
    : config_(std::move(config)), on_disk_(options.on_disk) {
  auto place = ThreadPlace::create(config_.memory.budget, true, config_.variables.size(),
                                   choose_cpus(CpuChoice::none, {}, 0), doorbell_);
  TAILRACE_REQUIRE(place.ok());
  place_ = std::move(place).value();
  if (on_disk_) {
    const auto devices = static_cast<uint32_t>(config_.storage.paths.size());
    auto posix = PosixStorage::create(doorbell_, {.devices = devices, .depth = 8, .direct = true, .cpus = {}});
    TAILRACE_REQUIRE(posix.ok());
    storage_ = std::move(posix).value();
  } else {
    auto memory = std::make_unique<MemoryStorage>(doorbell_);
    memory_ = memory.get();
    storage_ = std::move(memory);
  }
  faults_ = std::make_unique<FaultStorage>(*storage_, doorbell_, options.seed, options.plan);
  gate_ = std::make_unique<GatedStorage>(*faults_, doorbell_);
  if (options.shut) gate_->shut();
  engine_ = std::make_unique<Engine>(*gate_, scheduler_, clock_, options.engine);
  crew_ = std::make_unique<FilterCrew>(clock_, doorbell_, FilterCrew::Options{options.filter_threads, {}});
  const auto format = [this, own = options.format](int client, const Config& of) -> std::unique_ptr<Format> {
    if (own) return own(of);
    const auto date = [] { return std::string("2026-01-02 03:04:05 +0000"); };
    return std::make_unique<Hdf5Format>(of, gate_->files(), Hdf5Format::Options{client, "machine", date});
  };
  const auto descriptors = [each = options.descriptors](uint64_t) { return each; };
  server_ = std::make_unique<LoneServer>(clock_, processes_, doorbell_, log_, 0, config_,
                                         ServerCore::Equipment{*engine_, format, crew_.get(), descriptors, 1},
                                         place_->channel(), server_trace_);
  client_ = std::make_unique<Client>(config_, *place_, clock_, log_, client_trace_);
  place_->start([this] { server_->run(); }, [this] { server_->end(); });
}

SessionRig::~SessionRig() { stop(); }

void SessionRig::stop() {
  gate_->open();
  place_->stop();
}

std::vector<Fault> SessionRig::told() {
  std::vector<Fault> faults;
  while (const std::optional<Status> status = client_->earlier()) faults.push_back(status->fault());
  return faults;
}

std::string SessionRig::path(int64_t iteration) const {
  const size_t device = static_cast<size_t>(iteration) % config_.storage.paths.size();
  return config_.storage.paths[device] + "/" + file_name_of(config_, 0, iteration);
}

std::optional<std::vector<std::byte>> SessionRig::bytes(const std::string& path) const {
  if (!on_disk_) {
    const MemoryStorage::Bytes* bytes = memory_->contents(path);
    return bytes == nullptr ? std::nullopt : std::optional(*bytes);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::vector<std::byte> bytes;
  for (std::istreambuf_iterator<char> at(file), end; at != end; ++at) bytes.push_back(static_cast<std::byte>(*at));
  return bytes;
}

std::unique_ptr<Hdf5File> SessionRig::published(int64_t iteration) const {
  const auto content = bytes(path(iteration));
  return content ? Hdf5File::open(*content) : nullptr;
}

}  // namespace tailrace::impl
