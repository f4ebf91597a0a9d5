#include "api/error_record.hpp"

#include <algorithm>
#include <cstring>

namespace tailrace::impl {

void ErrorRecord::set(const Status& status, bool earlier, uint64_t more) {
  status_ = status;
  earlier_ = earlier;
  more_ = more;
}

tailrace_status ErrorRecord::get(tailrace_error* out) const {
  tailrace_error error{};
  error.status = status_.code();
  error.earlier = earlier_ ? 1 : 0;
  error.more = more_;
  error.iteration = -1;
  error.operation = error.file = error.variable = error.message = "";
  if (!status_.ok()) {
    const Fault& fault = status_.fault();
    error.system_errno = fault.system_errno;
    error.iteration = fault.iteration;
    error.operation = fault.operation.c_str();
    error.file = fault.file.c_str();
    error.variable = fault.variable.c_str();
    error.message = fault.message.c_str();
  }
  return copy_out(out, &error, sizeof error) ? TAILRACE_OK : TAILRACE_INVALID_ARGUMENT;
}

ErrorRecord& thread_error() {
  thread_local ErrorRecord record;
  return record;
}

bool copy_out(void* out, const void* from, size_t size) {
  if (out == nullptr) return false;
  size_t known = 0;
  std::memcpy(&known, out, sizeof known);
  if (known < sizeof known) return false;
  std::memcpy(static_cast<char*>(out) + sizeof known, static_cast<const char*>(from) + sizeof known,
              std::min(known, size) - sizeof known);
  return true;
}

}  // namespace tailrace::impl
