// SystemProcesses: the process clock of the operating system.
#pragma once

#include "base/os/process.hpp"
#include "server/process_clock.hpp"

namespace tailrace::impl {

class SystemProcesses final : public ProcessClock {
 public:
  uint64_t began(pid_t process) const override { return process_begin(process); }
  uint64_t now() const override { return process_clock(); }
  uint64_t ticks(Nanoseconds time) const override { return process_ticks(time); }
};

}  // namespace tailrace::impl
