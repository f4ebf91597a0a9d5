#include "runtime/output/leftover.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/os/os_file.hpp"
#include "base/os/own_file.hpp"
#include "format/hdf5/inspect_file.hpp"

namespace tailrace::impl {
namespace {

Status sync(int fd, const std::string& path) {
  return ::fsync(fd) == 0 ? Status() : Status::of_errno("sync", path, errno);
}

// A published file of that name is of an earlier run (storage.existing: continue), and gives way as it would have.
Status publish(int fd, const std::string& part, const std::string& final_path, const std::string& directory) {
  if (Status status = sync(fd, part); !status.ok()) return status;
  if (Status status = rename_open_file(fd, part, final_path, true); !status.ok()) return status;
  const Result<OsFile> names = OsFile::open(directory, OsFile::Mode::directory, false);
  return names.ok() ? sync(names.value().buffered(), directory) : names.status();
}

}  // namespace

Leftover treat_part(const std::string& file, const std::string& directory, bool apply) {
  Leftover leftover{file, TAILRACE_INCOMPLETE, false, {}};
  const std::string final_path = file.substr(0, file.size() - std::string(".part").size());
  if (same_file(file, final_path)) {  // only its old name is left to go
    leftover.kind = TAILRACE_COMPLETE;
    leftover.status = apply ? remove_file(file) : Status();
    leftover.done = apply && leftover.status.ok();
    return leftover;
  }
  const Result<FileDescriptor> part = open_own_file(file, O_RDONLY);
  leftover.status = part.status();
  if (!part.ok()) return leftover;
  const int fd = part.value().get();
  const Result<bool> complete = is_complete(fd, file);
  leftover.status = complete.status();
  if (!complete.ok()) return leftover;
  if (complete.value()) leftover.kind = TAILRACE_COMPLETE;
  if (!apply) return leftover;
  leftover.status = complete.value() ? publish(fd, file, final_path, directory) : remove_file(file);
  leftover.done = leftover.status.ok();
  return leftover;
}

}  // namespace tailrace::impl
