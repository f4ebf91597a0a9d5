#include "request.hpp"

#include <algorithm>

#include "carrier.hpp"
#include "errors.hpp"

namespace tailrace::hdf5 {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr uint64_t kMillisecond = 1000000;

int64_t milliseconds_until(steady_clock::time_point deadline) {
  return std::max<int64_t>(duration_cast<milliseconds>(deadline - steady_clock::now()).count(), 0);
}

}  // namespace

H5VL_request_status_t Request::wait(uint64_t timeout) {
  // Years are for ever.
  const bool bounded = timeout / kMillisecond < uint64_t{1} << 40;
  const steady_clock::time_point deadline =
      steady_clock::now() + milliseconds(bounded ? (timeout + kMillisecond - 1) / kMillisecond : 0);
  while (!parts_.empty()) {
    const Part& part = parts_.back();
    const Carrier::Refusal end =
        Carrier::instance().wait(part.ticket, bounded ? milliseconds_until(deadline) : -1, part.file);
    if (end.status == TAILRACE_TIMEOUT) return H5VL_REQUEST_STATUS_IN_PROGRESS;
    if (end.status != TAILRACE_OK && why_.empty()) why_ = end.message;
    parts_.pop_back();
    ended_ = std::chrono::system_clock::now();
  }
  return why_.empty() ? H5VL_REQUEST_STATUS_SUCCEED : H5VL_REQUEST_STATUS_FAIL;
}

hid_t Request::error_stack() const {
  const hid_t stack = host_.H5Ecreate_stack();
  if (stack >= 0) push_error(host_, stack, "H5Dwrite_async", why_);
  return stack;
}

void Request::execution(uint64_t* begun, uint64_t* took) const {
  using std::chrono::microseconds;
  using std::chrono::nanoseconds;
  if (begun != nullptr)
    *begun = static_cast<uint64_t>(duration_cast<microseconds>(begun_.time_since_epoch()).count());
  const auto end = parts_.empty() ? ended_ : std::chrono::system_clock::now();
  if (took != nullptr) *took = static_cast<uint64_t>(duration_cast<nanoseconds>(end - begun_).count());
}

}  // namespace tailrace::hdf5
