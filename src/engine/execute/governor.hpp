// Governor: chooses the pace of writes by what they cost the program (storage.throttle: auto).
//
// Follows the iterations of one client. In some of them writing rests: what computing takes then is what it takes
// undisturbed. Where it takes longer beside writing, the rate falls by a part, to no less than what an iteration
// needs; where it does not, the rate rises by steps. A fall that does not help is taken back. Pure arithmetic:
// knows the time only as it is told.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/execute/pace.hpp"

namespace tailrace::impl {

class Governor {
 public:
  // The state when a client has ended an iteration; all but `waited` since the beginning.
  struct Now {
    uint32_t client = 0;
    Nanoseconds time{0};
    Nanoseconds waited{0};  // by the client in this iteration: it did not compute then
    Nanoseconds busy{0};    // transfers were under way
    uint64_t bytes = 0;     // that writes have begun to move
  };

  // A client has ended an iteration. Returns until when writing is to rest, if it is to.
  std::optional<Nanoseconds> ended_iteration(const Now& now);
  // Returns the rate of writes until the next iteration ends.
  uint64_t rate() const { return rate_; }

 private:
  void measure(const Now& now);
  void adjust();

  // The iterations of a round: the first ones begin, then some rest, one in two, and the others adjust the rate.
  static constexpr uint32_t kRound = 64;
  static constexpr uint32_t kFirstRest = 3;
  static constexpr uint32_t kRests = 3;
  static constexpr uint32_t kTogether = 3;      // iterations whose middle one is looked at
  static constexpr double kUndisturbed = 0.05;  // of an iteration: writing for no longer disturbs nobody
  static constexpr double kTolerated = 0.03;    // slower than this is too slow
  static constexpr double kFall = 0.7;          // what is left of the rate
  static constexpr double kHelps = 0.99;        // of the computing before a fall that helps
  static constexpr double kStep = 0.1;          // of the storage's rate
  static constexpr double kFits = 0.8;          // of an iteration in which its bytes are to be written

  bool rests(uint32_t turn) const {
    return turn >= kFirstRest && turn < kFirstRest + 2 * kRests && (turn - kFirstRest) % 2 == 0;
  }

  uint64_t rate_ = Pace::kUnlimited;
  std::optional<Now> last_;            // of the client that is followed
  uint32_t turn_ = 0;                  // of the iteration under way, in its round
  std::vector<double> resting_;        // computing, seconds, without writing
  std::vector<double> beside_;         // … beside writing, of the latest iterations
  std::optional<double> undisturbed_;  // the middle of the last round's `resting_`
  std::optional<double> fell_from_;    // computing, seconds, before the rate fell last
  bool gave_up_ = false;               // a lower rate did not help in this round
  double least_rate_ = 0;              // bytes a second that an iteration needs
  double storage_rate_ = 0;            // bytes a second while transfers are under way at no limit
};

}  // namespace tailrace::impl
