#include "base/deadline.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

constexpr Nanoseconds kLongest = std::chrono::hours(24 * 365);  // so that sums do not overflow

}  // namespace

Deadline::Deadline(Nanoseconds limit)
    : limit_(limit), end_(SteadyClock().now() + std::clamp(limit, Nanoseconds::zero(), kLongest)) {}

Nanoseconds Deadline::left() const { return std::max(end_ - SteadyClock().now(), Nanoseconds::zero()); }

timespec Deadline::moment() const { return to_timespec(end_); }

short wait_for_events(int fd, short events, const Deadline& deadline) {
  pollfd entry{fd, events, 0};
  while (true) {
    const timespec left = to_timespec(deadline.left());
    const int count = ppoll(&entry, 1, &left, nullptr);
    if (count >= 0) return count == 0 ? short{0} : entry.revents;
    TAILRACE_ASSERT(errno == EINTR || errno == ENOMEM);
    if (errno == ENOMEM) return POLLERR;  // the caller's next call reports more
  }
}

timespec to_timespec(Nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((time - seconds).count())};
}

}  // namespace tailrace::impl
