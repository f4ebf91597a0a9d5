#include "runtime/parts/open_storage.hpp"

#include <utility>

#include "storage/memory/memory_storage.hpp"
#include "storage/os/os_file_system.hpp"
#include "storage/posix/posix_storage.hpp"
#include "storage/uring/uring_storage.hpp"

namespace tailrace::impl {
namespace {

Result<std::unique_ptr<Storage>> open_uring(const Config& config, const std::vector<int>& cpus, Doorbell& doorbell) {
  auto storage = UringStorage::create(doorbell, {config.storage.queue_depth, config.storage.direct, cpus});
  if (!storage.ok()) return storage.status();
  return std::unique_ptr<Storage>(std::move(storage).value());
}

Result<std::unique_ptr<Storage>> open_posix(const Config& config, const std::vector<int>& cpus, Doorbell& doorbell) {
  const auto devices = static_cast<uint32_t>(config.storage.paths.size());
  auto storage = PosixStorage::create(doorbell, {devices, config.storage.queue_depth, config.storage.direct, cpus});
  if (!storage.ok()) return storage.status();
  return std::unique_ptr<Storage>(std::move(storage).value());
}

}  // namespace

Result<std::unique_ptr<Storage>> open_storage(const Config& config, const std::vector<int>& cpus, Doorbell& doorbell,
                                              Log& log) {
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

std::unique_ptr<FileSystem> open_file_system(Backend backend) {
  if (backend == Backend::memory) return std::make_unique<MemoryFileSystem>();
  return std::make_unique<OsFileSystem>();
}

}  // namespace tailrace::impl
