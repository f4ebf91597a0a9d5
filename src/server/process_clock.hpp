// ProcessClock: the port that says when processes began, and whether they live. The system's is in
// runtime/core/core_server.cpp; the simulator has its own.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/clock.hpp"

namespace tailrace::impl {

class ProcessClock {
 public:
  virtual ~ProcessClock() = default;
  // Returns when the process began, in the clock's own ticks; 0 if it has ended.
  virtual uint64_t began(pid_t process) const = 0;
  // Returns the present time, in ticks.
  virtual uint64_t now() const = 0;
  virtual uint64_t ticks(Nanoseconds time) const = 0;
};

}  // namespace tailrace::impl
