#include "base/sync/event_fd.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "base/assert.hpp"

namespace tailrace::impl {

namespace {

// Returns true if `fd` became readable within `limit` (none: at some time). Returns early if `other` did. An
// interruption counts as the end of the time: the sleeper checks again anyway. ppoll() ignores descriptors below 0.
bool is_raised_within(int fd, std::optional<Nanoseconds> limit, int other) {
  const Nanoseconds most = std::max(limit.value_or(Nanoseconds::zero()), Nanoseconds::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
  const timespec time{seconds.count(), (most - seconds).count()};
  std::array<pollfd, 2> events{{{fd, POLLIN, 0}, {other, POLLIN, 0}}};
  return ppoll(events.data(), events.size(), limit ? &time : nullptr, nullptr) > 0 && events[0].revents != 0;
}

}  // namespace

EventFd::EventFd() : fd_(eventfd(0, EFD_CLOEXEC)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

EventFd::~EventFd() { ::close(fd_); }

void EventFd::raise() const {
  const uint64_t one = 1;
  ssize_t put = 0;
  do {
    put = ::write(fd_, &one, sizeof one);
  } while (put < 0 && errno == EINTR);
  TAILRACE_ASSERT(put == sizeof one);
}

void EventFd::take(std::optional<Nanoseconds> limit, int other) const {
  if ((limit || other >= 0) && !is_raised_within(fd_, limit, other)) return;
  uint64_t count = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd_, &count, sizeof count);
  } while (got < 0 && errno == EINTR);
  TAILRACE_ASSERT(got == sizeof count);
}

}  // namespace tailrace::impl
