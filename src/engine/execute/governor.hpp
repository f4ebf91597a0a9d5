// Governor: chooses the pace of writes by what they cost the program (storage.throttle: auto).
//
// It follows the iterations of one client. Writing rests during some of them; the time for computing in these is the
// undisturbed one. If computing takes longer beside writing, the governor lowers the rate by a factor, but never
// below the rate that an iteration needs. If not, it raises the rate in steps. It takes back a lower rate that does
// not help. Pure arithmetic: callers pass the time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/execute/pace.hpp"

namespace tailrace::impl {

class Governor {
 public:
  // The state when a client has ended an iteration. All but `waited` count from the beginning of the run.
  struct Now {
    uint32_t client = 0;
    Nanoseconds time{0};
    Nanoseconds waited{0};  // the client waited in this iteration, and did not compute
    Nanoseconds busy{0};    // transfers were in progress
    uint64_t bytes = 0;     // bytes of all writes that have begun
  };

  // Notes that a client has ended an iteration. If writing is to rest, returns the time until which it rests.
  std::optional<Nanoseconds> ended_iteration(const Now& now);
  // Returns the rate of writes until the next iteration ends.
  uint64_t rate() const { return rate_; }

 private:
  void measure(const Now& now);
  void adjust();

  // A round is this many iterations. After the first ones, writing rests in every second iteration, a few times. Each
  // of the others adjusts the rate.
  static constexpr uint32_t kRound = 64;
  static constexpr uint32_t kFirstRest = 3;
  static constexpr uint32_t kRests = 3;
  static constexpr uint32_t kTogether = 3;      // decides by the median of this many iterations
  static constexpr double kUndisturbed = 0.05;  // writing for this part of an iteration does not disturb it
  static constexpr double kTolerated = 0.03;    // a slow-down by more than this lowers the rate
  static constexpr double kFall = 0.7;          // new rate / old rate
  static constexpr double kHelps = 0.99;        // a lower rate helps if computing takes less than this part of before
  static constexpr double kStep = 0.1;          // a step up, as a part of the storage's rate
  static constexpr double kFits = 0.8;          // the part of an iteration in which its bytes must be written

  bool rests(uint32_t turn) const {
    return turn >= kFirstRest && turn < kFirstRest + 2 * kRests && (turn - kFirstRest) % 2 == 0;
  }

  uint64_t rate_ = Pace::kUnlimited;
  std::optional<Now> last_;            // the last state of the client that is followed
  uint32_t turn_ = 0;                  // number of the current iteration in its round
  std::vector<double> resting_;        // seconds of computing without writing, in this round
  std::vector<double> beside_;         // seconds of computing beside writing, in the latest iterations
  std::optional<double> undisturbed_;  // the median of the last round's `resting_`
  std::optional<double> fell_from_;    // seconds of computing before the rate was lowered last
  bool gave_up_ = false;               // a lower rate did not help in this round
  double least_rate_ = 0;              // the bytes a second that an iteration needs
  double storage_rate_ = 0;            // the bytes a second of unlimited transfers in progress
};

}  // namespace tailrace::impl
