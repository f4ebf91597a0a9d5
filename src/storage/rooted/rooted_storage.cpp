#include "storage/rooted/rooted_storage.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

namespace tailrace::impl {

Result<std::unique_ptr<RootedStorage>> RootedStorage::create(std::unique_ptr<Storage> inner,
                                                             const std::vector<std::string>& roots) {
  std::vector<RootedFiles::Root> open;
  for (std::string path : roots) {
    if (!path.starts_with('/')) {
      return Status(TAILRACE_INVALID_CONFIG,
                    fmt::format("forward.roots: found '{}', expected an absolute path", path));
    }
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    FileDescriptor directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory.is_open()) return Status::of_errno("open", path, errno);
    open.push_back({path == "/" ? "" : path, std::move(directory)});
  }
  std::unique_ptr<RootedStorage> storage(new RootedStorage(std::move(inner), std::move(open)));
  for (const std::string& path : roots) {
    const Status status = storage->files().list(path).status();
    if (status.ok()) continue;
    if (status.fault().system_errno != ENOSYS) return status;
    return Status(TAILRACE_UNSUPPORTED, "this kernel has no openat2 (Linux 5.6), which a forwarder needs");
  }
  return storage;
}

}  // namespace tailrace::impl
