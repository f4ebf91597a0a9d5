#include "base/status.hpp"

#include <fmt/format.h>

#include <system_error>

namespace tailrace::impl {

Status Status::of_errno(std::string operation, std::string file, int system_errno) {
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.message = fmt::format("{} '{}': {}", operation, file, std::generic_category().message(system_errno));
  fault.operation = std::move(operation);
  fault.file = std::move(file);
  fault.system_errno = system_errno;
  return Status(std::move(fault));
}

}  // namespace tailrace::impl
