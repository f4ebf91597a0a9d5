// Adaptive: TWINS (twins.hpp) whose window is tuned while it runs, by the bytes that end in a second. One choice is
// to have no windows at all.
//
// Time is cut into trials, one for each window in turn, which last several rounds of it. A trial uses its own window
// if that has not been measured, or if the dice say so (one trial in ten); else it uses the best one. If the best one
// yields something else than it used to, twice in succession, all is measured again. Only time counts in which
// something is under way, and not the first part of a trial, which still carries out what the one before began.
// Trials and dice follow from time and seed alone: forwarders whose clocks have a common origin try the same window
// at the same time. It has no clock and no randomness of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/schedule/scheduler.hpp"
#include "engine/schedule/twins.hpp"

namespace tailrace::impl {

class Adaptive final : public Scheduler {
 public:
  struct Options {
    Twins::Options twins;              // except its window
    std::vector<Nanoseconds> windows;  // to choose from; zero: no windows
    uint64_t seed = 1;                 // of the dice
  };

  // One of the windows, and what came of it.
  struct Choice {
    Nanoseconds window{0};
    uint64_t trials = 0;         // in which it was used
    uint64_t bytes = 0;          // that ended while it was measured …
    Nanoseconds busy{0};         // … in so much time
    std::optional<double> rate;  // bytes a second, as it is estimated now; none: it must be measured first
  };

  // Returns no window, and those from 0.125 to 32 ms of which each is twice the one before.
  static std::vector<Nanoseconds> usual_windows();

  // Requires at least one window, and none less than zero.
  explicit Adaptive(const Options& options);

  void push(const Request* request) override;
  const Request* next(Nanoseconds now) override;
  // The engine has set the time of the request's end. Requests that were never pushed do not count.
  void ended(const Request& request) override;
  std::optional<Nanoseconds> due() const override { return twins_.due(); }
  void hurry() override { twins_.hurry(); }

  // Returns the window that is used now.
  Nanoseconds window() const { return twins_.window(); }
  // Returns the windows as they were given, for a report.
  std::vector<Choice> choices() const;
  // Returns how often all was measured again.
  uint64_t renewals() const { return renewals_; }

 private:
  struct Arm {
    Choice choice;
    uint64_t bytes = 0;   // since the last estimate …
    Nanoseconds busy{0};  // … in so much time
  };
  struct Trial {
    uint64_t number = 0;
    size_t arm = 0;
    Nanoseconds end{0};
  };

  Nanoseconds length_of(Nanoseconds window) const;
  Trial trial_at(Nanoseconds time) const;
  void pass(Nanoseconds now);
  void begin(const Trial& trial);
  size_t choose(const Trial& trial) const;
  bool rolls(uint64_t trial) const;
  size_t best() const;
  void estimate(Arm& arm);
  bool is_settled() const;
  void renew();

  const Options options_;
  Twins twins_;
  std::vector<Arm> arms_;
  size_t used_ = 0;         // index of the arm
  bool was_used_ = false;   // `used_` is valid
  std::vector<bool> here_;  // by slot: pushed, and not ended
  size_t under_way_ = 0;    // their number
  bool busy_ = false;       // something is under way since `now_`
  Nanoseconds now_ = Nanoseconds::min();
  Nanoseconds measured_from_{0};  // the first part of a trial with another window than before does not count
  Nanoseconds trial_end_ = Nanoseconds::min();
  uint64_t trials_ = 0;   // since all was measured again
  uint32_t strikes_ = 0;  // how often the best one has yielded something else in succession
  uint64_t renewals_ = 0;
};

}  // namespace tailrace::impl
