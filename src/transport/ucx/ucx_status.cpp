#include "transport/ucx/ucx_status.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "transport/ucx/quiet_ucx.hpp"

namespace tailrace::impl {
namespace {

int errno_of(ucs_status_t status) {
  switch (status) {
    case UCS_ERR_NO_MEMORY: return ENOMEM;
    case UCS_ERR_UNREACHABLE: return EHOSTUNREACH;
    case UCS_ERR_CANCELED: return ECANCELED;
    case UCS_ERR_REJECTED: return ECONNABORTED;
    case UCS_ERR_NOT_CONNECTED: return ENOTCONN;
    case UCS_ERR_CONNECTION_RESET: return ECONNRESET;
    case UCS_ERR_TIMED_OUT:
    case UCS_ERR_ENDPOINT_TIMEOUT: return ETIMEDOUT;
    case UCS_ERR_BUSY:
    case UCS_ERR_ALREADY_EXISTS: return EADDRINUSE;
    case UCS_ERR_INVALID_ADDR:
    case UCS_ERR_NO_DEVICE: return EADDRNOTAVAIL;
    default: return EIO;
  }
}

}  // namespace

Status ucx_failure(std::string_view what, ucs_status_t status) {
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.message = fmt::format("{}: UCX reports '{}'", what, ucs_status_string(status));
  const std::string detail = last_message_of_ucx();
  if (!detail.empty()) fault.message += fmt::format(" ({})", detail);
  fault.system_errno = errno_of(status);
  return Status(std::move(fault));
}

}  // namespace tailrace::impl
