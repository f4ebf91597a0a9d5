// The process clock port: when processes began, and whether they live. The system's (runtime/core/core_server.cpp),
// or the simulator's.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/clock.hpp"

namespace tailrace::impl {

class ProcessClock {
 public:
  virtual ~ProcessClock() = default;
  // When the process began, in the clock's own ticks; 0: it has ended.
  virtual uint64_t began(pid_t process) const = 0;
  // The present time, in the same ticks.
  virtual uint64_t now() const = 0;
  virtual uint64_t ticks(Nanoseconds time) const = 0;
};

}  // namespace tailrace::impl
