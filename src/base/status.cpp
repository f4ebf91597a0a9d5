#include "base/status.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/descriptor_limit.hpp"

namespace tailrace::impl {

Status Status::of_errno(std::string operation, std::string file, int system_errno) {
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.message = fmt::format("{} '{}': {}", operation, file, std::generic_category().message(system_errno));
  // All systems that tailrace supports have the calls that it makes.
  if (system_errno == ENOSYS) {
    fault.message += "; does a sandbox (a container's seccomp profile, a batch system's) forbid this system call?";
  }
  if (system_errno == EMFILE) {
    fault.message +=
        fmt::format(" (EMFILE): process {} may have {} at once (ulimit -n)", ::getpid(), descriptor_limit());
  }
  fault.operation = std::move(operation);
  fault.file = std::move(file);
  fault.system_errno = system_errno;
  return Status(std::move(fault));
}

}  // namespace tailrace::impl
