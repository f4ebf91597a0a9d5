// Story: the events of a run. For a single seed it prints them line by line; otherwise it only mixes them into a
// number, by which two runs of a seed are compared. Checkers also report faults to it, which ends the process.
//
// It formats text only if it prints: thousands of seeds run in silence.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "testing/simulation/split_dice.hpp"

namespace tailrace::impl::simulation {

// The exit code of a process whose checker has found something.
inline constexpr int kFoundSomething = 3;

class Story {
 public:
  explicit Story(bool aloud) : aloud_(aloud) {}

  bool aloud() const { return aloud_; }
  // Sets the clock whose time precedes each line; null: none. Borrowed until the next call.
  void set_clock(const Clock* clock) { clock_ = clock; }

  template <class... Args>
  void tell(fmt::format_string<Args...> format, Args&&... args) {
    if (aloud_) say(fmt::format(format, std::forward<Args>(args)...));
  }
  void mix(uint64_t number) { sum_ = mixed(sum_ ^ number); }
  uint64_t sum() const { return sum_; }

  // Ends the process; `checker` names the kind of fault.
  [[noreturn]] void fail(std::string_view checker, const std::string& what);
  void check(bool holds, std::string_view checker, const char* what) {
    if (!holds) fail(checker, what);
  }

 private:
  void say(const std::string& line);

  const bool aloud_;
  const Clock* clock_ = nullptr;
  uint64_t sum_ = 0;
};

// The logs of what runs in a simulation.
class StoryLog final : public Log {
 public:
  explicit StoryLog(Story& story) : story_(story) {}
  void put(LogLevel, std::string_view message) override { story_.tell("log: {}", message); }

 private:
  Story& story_;
};

}  // namespace tailrace::impl::simulation
