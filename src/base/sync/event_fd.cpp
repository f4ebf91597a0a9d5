#include "base/sync/event_fd.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/assert.hpp"

namespace tailrace::impl {

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

void EventFd::take() const {
  uint64_t count = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd_, &count, sizeof count);
  } while (got < 0 && errno == EINTR);
  TAILRACE_ASSERT(got == sizeof count);
}

}  // namespace tailrace::impl
