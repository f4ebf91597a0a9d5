#include "runtime/output/output_directories.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "runtime/parts/provenance.hpp"

namespace tailrace::impl {

Status make_output_directories(const Config& config, FileSystem& files) {
  for (const std::string& path : config.storage.paths) {
    if (Status status = files.make_directory(path); !status.ok()) return status;
  }
  return {};
}

Result<std::vector<std::unique_ptr<NameLock>>> take_output_directories(const Config& config, FileSystem& files,
                                                                       const std::string& who, Log& log) {
  std::vector<std::unique_ptr<NameLock>> locks;
  const std::string holder = fmt::format("process {} on {}", ::getpid(), machine_name());
  if (Status made = make_output_directories(config, files); !made.ok()) return made;
  for (const std::string& path : config.storage.paths) {
    auto lock = files.lock(fmt::format("{}/.{}_{}.lock", path, config.name, who), holder);
    if (!lock.ok()) return lock.status();
    if (!lock.value()->held()) {
      log.warning("'{}' is on a file system without locks: a second writer {} would not be noticed", path, who);
    }
    locks.push_back(std::move(lock).value());
  }
  return locks;
}

}  // namespace tailrace::impl
