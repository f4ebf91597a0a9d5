#include "api/handle.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace tailrace::impl {

tailrace_client* new_handle(std::unique_ptr<Session> session) {
  // Never destroyed: a handle may be used, and must be refused, until the process has ended.
  static std::mutex mutex;
  static auto* const handles = new std::vector<std::unique_ptr<tailrace_client>>;  // guarded by mutex
  auto handle = std::make_unique<tailrace_client>();
  handle->session = std::move(session);
  const std::lock_guard lock(mutex);
  handles->push_back(std::move(handle));
  return handles->back().get();
}

}  // namespace tailrace::impl
