// BindingWatch: decides when threads that are bound to some cpus leave them, since others want these cpus too, and
// when they come back.
//
// Plain arithmetic: its owner reads the times, and moves the threads. A thread is disturbed if, since its last
// reading, it waited for a cpu longer than it ran, and for a noticeable share of the time. What the group's other
// threads ran does not count: they may have been what it waited for.
#pragma once

#include <algorithm>
#include <optional>

#include "base/clock.hpp"

namespace tailrace::impl {

class BindingWatch {
 public:
  // Times of one thread and of its group. Each only grows.
  struct Reading {
    Nanoseconds now{};
    Nanoseconds ran{};         // the thread, on a cpu
    Nanoseconds waited{};      // … ready to run, for a cpu
    Nanoseconds others_ran{};  // the other threads of the group together
  };

  static constexpr Nanoseconds kEvery = std::chrono::milliseconds(50);  // a thread is not judged more often
  static constexpr int kNoticeable = 50;                                // 1/kNoticeable of the time
  // How long the threads stay away: twice as long as the last time if they had to leave soon again.
  static constexpr Nanoseconds kFirstPause = std::chrono::seconds(1);
  static constexpr Nanoseconds kLongestPause = std::chrono::seconds(64);

  // `begins_away`: the threads are not on the cpus at first, since all cpus are busy.
  explicit BindingWatch(bool begins_away) : away_(begins_away) {}

  bool is_away() const { return away_; }

  // Judges what a thread did between two readings. Returns true if is_away() has changed.
  bool judge(const Reading& from, const Reading& to) {
    const bool disturbed = is_disturbed(from, to);
    if (away_) {
      if (disturbed || !quiet_since_) quiet_since_ = to.now;
      if (to.now - *quiet_since_ < pause_) return false;
    } else {
      if (!disturbed) return false;
      pause_ = to.now - moved_ < kLongestPause ? std::min(2 * pause_, kLongestPause) : kFirstPause;
      if (!has_moved_) pause_ = kFirstPause;
    }
    away_ = !away_;
    has_moved_ = true;
    moved_ = to.now;
    quiet_since_.reset();
    return true;
  }

  static bool is_disturbed(const Reading& from, const Reading& to) {
    const Nanoseconds waited = to.waited - from.waited - (to.others_ran - from.others_ran);
    return waited > to.ran - from.ran && waited > (to.now - from.now) / kNoticeable;
  }

 private:
  bool away_;
  bool has_moved_ = false;
  Nanoseconds moved_{};                       // when they last moved
  Nanoseconds pause_ = kFirstPause;           // how long they must be undisturbed before they come back
  std::optional<Nanoseconds> quiet_since_{};  // away: no thread was disturbed since then
};

}  // namespace tailrace::impl
