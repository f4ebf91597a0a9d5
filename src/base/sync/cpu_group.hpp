// CpuGroup: threads that run on the same cpus, such as a writer and its helpers, and move together: away from cpus
// that others want too, and back (binding_watch.hpp).
//
// A thread joins by a Member, and looks now and then, while it is awake anyway, how long it had to wait for a cpu.
// The system counts that (schedstat in proc(5)); where it does not tell, the group stays where it is.
// All of it is in this header, since the simulator brings its own bells in place of this folder's library.
#pragma once

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/sync/bind_thread.hpp"
#include "base/sync/binding_watch.hpp"

namespace tailrace::impl {

class CpuGroup {
 public:
  struct Times {
    Nanoseconds ran{};
    Nanoseconds waited{};  // for a cpu
  };

  struct Options {
    std::vector<int> cpus = {};  // of its threads; empty: they stay as they are
    std::vector<int> away = {};  // where they run while others want `cpus`; empty: they never leave
    bool begins_away = false;
    Log* log = nullptr;                                     // outlives the group; none: it logs nothing
    std::function<std::optional<Times>()> times = nullptr;  // of the calling thread; none: as the system counts them
  };

  class Member;

  explicit CpuGroup(Options options);
  explicit CpuGroup(std::vector<int> cpus) : CpuGroup(Options{.cpus = std::move(cpus)}) {}

  // Returns where its threads run now; empty: anywhere. Any thread.
  std::vector<int> cpus() const;
  // Returns how often it has moved. Any thread.
  // relaxed, as in move(): who sees a move late, moves what belongs to it later.
  uint64_t moves() const { return moves_.load(std::memory_order_relaxed); }

 private:
  const std::vector<int>& now_on() const TAILRACE_REQUIRES(mutex_) {
    return watch_.is_away() ? options_.away : options_.cpus;
  }
  bool may_move() const { return !options_.cpus.empty() && !options_.away.empty(); }
  Nanoseconds ran_by_all() const TAILRACE_REQUIRES(mutex_);
  void move() TAILRACE_REQUIRES(mutex_);

  const Options options_;  // constant after construction
  mutable Mutex mutex_;
  BindingWatch watch_ TAILRACE_GUARDED_BY(mutex_);
  struct Bound {
    pid_t thread = 0;
    cpu_set_t set{};  // where the system keeps it since the group has bound it
  };
  std::vector<Bound> members_ TAILRACE_GUARDED_BY(mutex_);
  bool is_over_ TAILRACE_GUARDED_BY(mutex_) = false;  // somebody else has bound a thread: the group moves none again
  Nanoseconds ran_by_gone_ TAILRACE_GUARDED_BY(mutex_){};
  std::atomic<uint64_t> moves_{0};  // written while mutex_ is held
};

// The calling thread runs on the group's cpus while this lives. Destroy it on the same thread.
class CpuGroup::Member {
 public:
  explicit Member(CpuGroup& group);
  ~Member();
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  // Looks whether the thread is disturbed, if the last look is some time ago; moves the group.
  void look(Nanoseconds now) {
    if (now >= next_look_) judge(now);
  }

 private:
  void judge(Nanoseconds now);
  std::optional<Times> times();

  CpuGroup& group_;
  const pid_t thread_;
  int counters_ = -1;  // descriptor of schedstat; -1: not opened yet, or there is none
  std::optional<BindingWatch::Reading> last_;
  Nanoseconds next_look_{};
};

namespace detail {

// Returns the processor time of a thread of this process; 0 if there is none such. The clock is that of
// pthread_getcpuclockid(3), which takes the thread's handle instead.
inline Nanoseconds ran_by(pid_t thread) {
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3U | 6U);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + Nanoseconds(time.tv_nsec);
}

// Returns where a thread of this process may run; none if the system does not tell.
inline std::optional<cpu_set_t> set_of(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(thread, sizeof set, &set) != 0) return std::nullopt;
  return set;
}

// Returns the first two numbers of schedstat; none if the system does not count, and says 0.
inline std::optional<CpuGroup::Times> parsed(std::string_view text) {
  int64_t ran = 0;
  int64_t waited = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, ran);
  if (error != std::errc() || after == end) return std::nullopt;
  if (std::from_chars(after + 1, end, waited).ec != std::errc() || ran == 0) return std::nullopt;
  return CpuGroup::Times{Nanoseconds(ran), Nanoseconds(waited)};
}

}  // namespace detail

inline CpuGroup::CpuGroup(Options options)
    : options_(std::move(options)),
      watch_(options_.begins_away && !options_.cpus.empty() && !options_.away.empty()) {}

inline std::vector<int> CpuGroup::cpus() const {
  const MutexLock lock(mutex_);
  return now_on();
}

inline Nanoseconds CpuGroup::ran_by_all() const {
  Nanoseconds all = ran_by_gone_;
  for (const Bound& member : members_) all += detail::ran_by(member.thread);
  return all;
}

// Best effort: a thread that the system does not move stays where it is.
inline void CpuGroup::move() {
  is_over_ = std::any_of(members_.begin(), members_.end(), [](const Bound& member) {
    const std::optional<cpu_set_t> set = detail::set_of(member.thread);
    return set && !CPU_EQUAL(&*set, &member.set);
  });
  if (is_over_) {
    if (options_.log != nullptr) options_.log->info("the writer stays where it is: others have bound its threads");
    return;
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : now_on()) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<size_t>(cpu), &set);
  }
  for (Bound& member : members_) {
    (void)sched_setaffinity(member.thread, sizeof set, &set);
    member.set = detail::set_of(member.thread).value_or(set);
  }
  moves_.fetch_add(1, std::memory_order_relaxed);
  if (options_.log == nullptr) return;
  if (watch_.is_away()) {
    options_.log->info("the writer leaves cpu {}, which others use, too", fmt::join(options_.cpus, ", "));
  } else {
    options_.log->info("the writer is bound to cpu {} again", fmt::join(options_.cpus, ", "));
  }
}

inline CpuGroup::Member::Member(CpuGroup& group) : group_(group), thread_(static_cast<pid_t>(syscall(SYS_gettid))) {
  const MutexLock lock(group_.mutex_);
  if (!group_.is_over_) (void)bind_thread(group_.now_on());
  group_.members_.push_back({thread_, detail::set_of(thread_).value_or(cpu_set_t{})});
}

inline CpuGroup::Member::~Member() {
  const MutexLock lock(group_.mutex_);
  group_.ran_by_gone_ += detail::ran_by(thread_);
  std::erase_if(group_.members_, [this](const Bound& member) { return member.thread == thread_; });
  if (counters_ >= 0) ::close(counters_);
}

inline void CpuGroup::Member::judge(Nanoseconds now) {
  next_look_ = now + BindingWatch::kEvery;
  if (!group_.may_move()) return;
  const std::optional<Times> found = times();
  if (!found) return;
  const MutexLock lock(group_.mutex_);
  if (group_.is_over_) return;
  const BindingWatch::Reading reading{now, found->ran, found->waited, group_.ran_by_all() - detail::ran_by(thread_)};
  if (last_ && group_.watch_.judge(*last_, reading)) group_.move();
  last_ = reading;
}

inline std::optional<CpuGroup::Times> CpuGroup::Member::times() {
  if (group_.options_.times) return group_.options_.times();
  if (counters_ < 0) counters_ = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (counters_ < 0) return std::nullopt;
  std::array<char, 96> text{};
  const ssize_t length = ::pread(counters_, text.data(), text.size(), 0);
  return length > 0 ? detail::parsed({text.data(), static_cast<size_t>(length)}) : std::nullopt;
}

}  // namespace tailrace::impl
