// OpenIterations: the iterations that a client has begun and not ended, and the numbers of those it has ended.
//
// It is bounded: the client's path allocates once for each further iteration that it has open at a time. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "base/ended_numbers.hpp"
#include "base/memory/pool.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class OpenIterations {
 public:
  static constexpr size_t kMaxOpen = 64;  // at once

  // The block of the pool that the application is building, if any.
  struct Uncommitted {
    PoolBlock block;       // index kNoBlock: none
    Nanoseconds spent{0};  // in alloc

    bool held() const { return block.index != kNoBlock; }
  };

  struct Iteration {
    int64_t number = -1;  // -1: unused
    bool dropped = false;
    uint64_t blocks = 0;                   // accepted
    std::vector<Uncommitted> uncommitted;  // by variable; empty until this entry is first used
  };

  explicit OpenIterations(size_t variables);

  // Returns the iteration, which it begins if need be; TAILRACE_WRONG_ORDER if it has ended, or too many are open.
  Result<Iteration*> open(int64_t number);
  // Returns the iteration if it is open, else null.
  Iteration* find(int64_t number);
  // Ends an iteration, whether it is open or was never begun.
  void end(int64_t number);
  bool has_ended(int64_t number) const { return ended_.contains(number); }

  // Returns how many are open and not dropped.
  size_t count() const;
  // Returns the numbers of all open ones, oldest first.
  std::vector<int64_t> numbers() const;

 private:
  // Constant after construction.
  const size_t variables_;

  // Used by the client's thread only.
  std::vector<Iteration> open_;
  EndedNumbers ended_;
};

}  // namespace tailrace::impl
