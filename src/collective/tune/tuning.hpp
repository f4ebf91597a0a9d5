// Tuning: finds by trial which options make the collective writes of a pattern fast.
//
// A trial is two writes, and the time that the slowest process spends in them. The second one ends when all bytes
// are on the device. So what a way does in the background while the program goes on costs nothing. Each way is
// tried once; then, in reverse order, those that are not far behind; and a third time those that are near the
// fastest. The least time of a way counts: a program's first writes touch memory, and others use the machine, too.
// Then the fastest way is tried with a smaller and a larger buffer, if it has aggregators.
//
// Pure: processes that begin with the same state and learn the same times always use the same options.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "collective/options.hpp"

namespace tailrace::collective {

class Tuning {
 public:
  static constexpr size_t kMaxWays = 16;
  static constexpr uint32_t kWritesOfTrial = 2;

  // State: all that the trials have shown. Processes send it to each other, and a profile keeps the first two.
  struct State {
    std::array<double, kMaxWays> seconds{};  // the least time of each way
    std::array<uint32_t, kMaxWays> tries{};
    double begun_seconds = 0;  // of the writes of a trial that has begun
    uint32_t begun_writes = 0;
  };

  // `base`: the user's options; a number of aggregators that is not 0 is kept.
  Tuning(const Options& base, uint32_t processes, uint32_t nodes, const State& state);

  bool has_ended() const { return has_ended_; }
  // Returns the options of the next write: those to try next; after the end, the best ones.
  const Options& options() const { return ways_[current_]; }
  // Returns true if the next write ends a trial.
  bool next_ends_trial() const { return state_.begun_writes + 1 >= kWritesOfTrial; }
  // Notes how long this process was in a write that ends no trial, in seconds.
  void wrote(double seconds);
  // Returns how long it was in the writes of the trial before the last one.
  double begun_seconds() const { return state_.begun_seconds; }
  // Notes how long the trial that has ended with options() took: the most of all processes.
  void tried(double seconds);
  // Forgets the trial that has begun: a write of it has failed. It is made again.
  void forget_begun();
  const State& state() const { return state_; }
  // Returns the best way and its time, and those of the others, for people.
  std::string text() const;

 private:
  void add_ways(const Options& base, uint32_t processes, uint32_t nodes);
  void choose_next();
  bool choose_among(size_t begin, size_t end);
  size_t best() const;

  static constexpr size_t kSmaller = kMaxWays - 2;  // the best way with a smaller buffer …
  static constexpr size_t kLarger = kMaxWays - 1;   // … and with a larger one

  std::array<Options, kMaxWays> ways_;
  size_t count_ = 0;  // of those before kSmaller
  State state_;
  size_t current_ = 0;
  bool has_ended_ = false;
};

static_assert(std::is_trivially_copyable_v<Tuning::State>);

}  // namespace tailrace::collective
