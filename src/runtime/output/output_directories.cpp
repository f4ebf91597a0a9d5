#include "runtime/output/output_directories.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/parts/provenance.hpp"

namespace tailrace::impl {

Status make_output_directories(const Config& config) {
  for (const std::string& path : config.storage.paths) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error) return Status::of_errno("create directory", path, error.value());
    if (::access(path.c_str(), W_OK | X_OK) != 0) return Status::of_errno("write into directory", path, errno);
  }
  return {};
}

Result<std::vector<LockFile>> take_output_directories(const Config& config, const std::string& who, Log& log) {
  std::vector<LockFile> locks;
  const std::string holder = fmt::format("process {} on {}", ::getpid(), machine_name());
  if (config.storage.backend == Backend::memory) return locks;
  if (Status made = make_output_directories(config); !made.ok()) return made;
  for (const std::string& path : config.storage.paths) {
    Result<LockFile> lock = LockFile::acquire(fmt::format("{}/.{}_{}.lock", path, config.name, who), holder);
    if (!lock.ok()) return lock.status();
    if (!lock.value().held()) {
      log.warning("'{}' is on a file system without locks: a second writer {} would not be noticed", path, who);
    }
    locks.push_back(std::move(lock).value());
  }
  return locks;
}

}  // namespace tailrace::impl
