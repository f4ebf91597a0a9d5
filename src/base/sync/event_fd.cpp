#include "base/sync/event_fd.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/assert.hpp"

namespace tailrace::impl {

namespace {

// An interruption counts as the end of the time: whoever sleeps looks again anyway.
bool is_raised_within(int fd, Nanoseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::max(limit, Nanoseconds::zero()));
  const timespec time{seconds.count(), (std::max(limit, Nanoseconds::zero()) - seconds).count()};
  pollfd event{fd, POLLIN, 0};
  return ppoll(&event, 1, &time, nullptr) > 0;
}

}  // namespace

EventFd::EventFd() : fd_(eventfd(0, EFD_CLOEXEC)) { TAILRACE_REQUIRE(fd_ >= 0); }

EventFd::~EventFd() { ::close(fd_); }

void EventFd::raise() const {
  const uint64_t one = 1;
  ssize_t put = 0;
  do {
    put = ::write(fd_, &one, sizeof one);
  } while (put < 0 && errno == EINTR);
  TAILRACE_ASSERT(put == sizeof one);
}

void EventFd::take(std::optional<Nanoseconds> limit) const {
  if (limit && !is_raised_within(fd_, *limit)) return;
  uint64_t count = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd_, &count, sizeof count);
  } while (got < 0 && errno == EINTR);
  TAILRACE_ASSERT(got == sizeof count);
}

}  // namespace tailrace::impl
