// EndedNumbers: the set of iterations that have ended, in little memory, however many there are.
//
// Programs end iterations in steps: 0, 10, 20, …, also backwards. The set is stored as such runs, so a regular
// program needs only one. Bounded: beyond kMaxRuns it forgets the oldest run. One thread.
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
  // Contains first, first + step, …: `count` numbers.
  struct Run {
    int64_t first = 0;
    int64_t step = 0;
    int64_t count = 0;
    bool contains(int64_t number) const;
  };

  std::vector<Run> runs_;  // a ring once it is full
  size_t latest_ = 0;
};

}  // namespace tailrace::impl
