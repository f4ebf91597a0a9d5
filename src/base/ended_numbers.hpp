// EndedNumbers: which iterations have ended, in little memory, however many there are.
//
// Programs end iterations in steps: 0, 10, 20, …, also backwards. Numbers are kept as such runs, so that a regular
// program needs one run for ever. Bounded: past kMaxRuns the oldest run is forgotten. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tailrace::impl {

class EndedNumbers {
 public:
  static constexpr size_t kMaxRuns = 4096;

  EndedNumbers() { runs_.reserve(kMaxRuns); }

  void add(int64_t number);
  bool contains(int64_t number) const;

 private:
  // first, first + step, …, `count` of them.
  struct Run {
    int64_t first = 0;
    int64_t step = 0;
    int64_t count = 0;
    bool contains(int64_t number) const;
  };

  std::vector<Run> runs_;  // a circle once it is full
  size_t latest_ = 0;
};

}  // namespace tailrace::impl
