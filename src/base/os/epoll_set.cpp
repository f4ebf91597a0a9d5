#include "base/os/epoll_set.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "base/deadline.hpp"

namespace tailrace::impl {
namespace {

// Returns milliseconds, never less than asked for; -1: forever.
int to_milliseconds(const std::optional<Deadline>& deadline) {
  if (!deadline) return -1;
  constexpr std::chrono::milliseconds kMost = std::chrono::hours(24);
  return static_cast<int>(std::min(std::chrono::ceil<std::chrono::milliseconds>(deadline->left()), kMost).count());
}

}  // namespace

Result<EpollSet> EpollSet::create() {
  FileDescriptor set(epoll_create1(EPOLL_CLOEXEC));
  if (!set.is_open()) return Status::of_errno("make", "an epoll set", errno);
  return EpollSet(std::move(set));
}

Status EpollSet::add(int fd, uint64_t tag, Trigger trigger) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  if (trigger != Trigger::level) event.events |= EPOLLET;
  if (trigger == Trigger::edge_both) event.events |= EPOLLOUT;
  event.data.u64 = tag;
  if (epoll_ctl(set_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return {};
  return Status::of_errno("wait for", fmt::format("descriptor {}", fd), errno);
}

void EpollSet::remove(int fd) { TAILRACE_REQUIRE(epoll_ctl(set_.get(), EPOLL_CTL_DEL, fd, nullptr) == 0); }

std::span<const uint64_t> EpollSet::wait(std::optional<Nanoseconds> timeout) {
  const std::optional<Deadline> deadline = timeout ? std::optional<Deadline>(*timeout) : std::nullopt;
  std::array<epoll_event, kAtOnce> events;
  int count = 0;
  do {
    count = epoll_wait(set_.get(), events.data(), static_cast<int>(kAtOnce), to_milliseconds(deadline));
    TAILRACE_ASSERT(count >= 0 || errno == EINTR);
  } while (count < 0);
  for (int i = 0; i < count; ++i) ready_[static_cast<size_t>(i)] = events[static_cast<size_t>(i)].data.u64;
  return {ready_.data(), static_cast<size_t>(count)};
}

}  // namespace tailrace::impl
