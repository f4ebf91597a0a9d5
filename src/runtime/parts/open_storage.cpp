#include "runtime/parts/open_storage.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "runtime/parts/open_remote.hpp"
#include "runtime/parts/provenance.hpp"
#include "storage/memory/memory_storage.hpp"
#include "storage/os/os_file_system.hpp"
#include "storage/posix/posix_storage.hpp"
#include "storage/rooted/rooted_storage.hpp"
#include "storage/striped/striped_storage.hpp"
#include "storage/threads/operation_threads.hpp"
#include "storage/threads/scatter_threads.hpp"
#include "storage/uring/uring_storage.hpp"

namespace tailrace::impl {
namespace {

// Returns how many devices the files lie on.
uint32_t devices_of(const Config& config) {
  return static_cast<uint32_t>(std::max(config.storage.paths.size(), config.storage.stripes.directories.size()));
}

// A transfer on a striped file is one on each of its devices.
uint32_t depth_of(const Config& config) {
  const uint32_t depth = config.storage.queue_depth * (config.storage.stripes.on() ? devices_of(config) : 1);
  return std::min(depth, UringStorage::kMaxDepth);
}

std::vector<std::string> roots_of(const Config& config) {
  const auto roots = config.storage.file_roots();
  return {roots.begin(), roots.end()};
}

// Lets a storage on files of the operating system take scattered writes.
std::unique_ptr<Storage> scattering(std::unique_ptr<Storage> storage, const std::shared_ptr<CpuGroup>& cpus,
                                    Doorbell& doorbell) {
  return std::make_unique<ScatterThreads>(std::move(storage), doorbell, cpus);
}

Result<std::unique_ptr<Storage>> open_uring(const Config& config, const std::shared_ptr<CpuGroup>& cpus,
                                            Doorbell& doorbell) {
  auto storage = UringStorage::create(doorbell, {depth_of(config), config.storage.direct, cpus, roots_of(config)});
  if (!storage.ok()) return storage.status();
  return scattering(std::move(storage).value(), cpus, doorbell);
}

Result<std::unique_ptr<Storage>> open_posix(const Config& config, const std::shared_ptr<CpuGroup>& cpus,
                                            Doorbell& doorbell) {
  auto storage = PosixStorage::create(
      doorbell, {devices_of(config), depth_of(config), config.storage.direct, cpus, roots_of(config)});
  if (!storage.ok()) return storage.status();
  return scattering(std::move(storage).value(), cpus, doorbell);
}

Result<std::unique_ptr<Storage>> open_unstriped(const Config& config, const std::shared_ptr<CpuGroup>& cpus,
                                                Doorbell& doorbell, Log& log) {
  switch (config.storage.backend) {
    case Backend::uring: return open_uring(config, cpus, doorbell);
    case Backend::posix: return open_posix(config, cpus, doorbell);
    case Backend::memory: return std::unique_ptr<Storage>(new MemoryStorage(doorbell));
    case Backend::automatic: break;
  }
  auto storage = open_uring(config, cpus, doorbell);
  if (storage.ok()) return storage;
  log.info("storage: io_uring cannot be used here ({}); falling back to write threads",
           storage.status().fault().message);
  return open_posix(config, cpus, doorbell);
}

Result<std::unique_ptr<Storage>> confined_to(const std::vector<std::string>& roots,
                                             std::unique_ptr<Storage> storage) {
  auto rooted = RootedStorage::create(std::move(storage), roots);
  if (!rooted.ok()) return rooted.status();
  return std::unique_ptr<Storage>(std::move(rooted).value());
}

StripeSet stripe_set(const Stripes& stripes) {
  StripeSet set{stripes.directories, {}, stripes.unit, new_run};
  for (const std::string& directory : stripes.directories) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(directory, error);
    set.recorded.push_back(error ? directory : path.lexically_normal().string());
  }
  return set;
}

}  // namespace

Result<std::unique_ptr<Storage>> open_storage(const Config& config, const std::shared_ptr<CpuGroup>& cpus,
                                              const Clock& clock, Doorbell& doorbell, Log& log) {
  if (!config.forward.on()) return open_local(config, cpus, doorbell, log);
  std::unique_ptr<Storage> local;
  if (config.forward.on_loss == OnForwarderLoss::direct) {
    auto opened = open_local(config, cpus, doorbell, log);
    if (!opened.ok()) return opened;
    local = std::move(opened).value();
  }
  auto remote = open_remote(config, std::move(local), clock, doorbell, log);
  if (!remote.ok()) return remote;
  return std::unique_ptr<Storage>(
      new OperationThreads(std::move(remote).value(), doorbell, cpus, OperationThreads::Carries::calls));
}

Result<std::unique_ptr<Storage>> open_local(const Config& config, const std::shared_ptr<CpuGroup>& cpus,
                                            Doorbell& doorbell, Log& log, const std::vector<std::string>& roots) {
  auto storage = open_unstriped(config, cpus, doorbell, log);
  if (storage.ok() && !roots.empty()) storage = confined_to(roots, std::move(storage).value());
  if (storage.ok() && config.storage.stripes.on()) {
    auto striped = StripedStorage::create(doorbell, std::move(storage).value(), stripe_set(config.storage.stripes));
    if (!striped.ok()) return striped.status();
    storage = std::unique_ptr<Storage>(std::move(striped).value());
  }
  if (!storage.ok() || config.storage.backend == Backend::memory) return storage;
  return std::unique_ptr<Storage>(new OperationThreads(std::move(storage).value(), doorbell, cpus));
}

std::unique_ptr<FileSystem> open_file_system(Backend backend) {
  if (backend == Backend::memory) return std::make_unique<MemoryFileSystem>();
  return std::make_unique<StripedFileSystem>(std::make_unique<OsFileSystem>());
}

}  // namespace tailrace::impl
