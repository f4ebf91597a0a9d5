#include "runtime/parts/make_scheduler.hpp"

#include "base/assert.hpp"
#include "engine/schedule/fifo.hpp"

namespace tailrace::impl {

std::unique_ptr<Scheduler> make_scheduler(const Config& config) {
  switch (config.schedule.kind) {
    case ScheduleKind::fifo: return std::make_unique<Fifo>();
  }
  TAILRACE_ASSERT(false);
}

}  // namespace tailrace::impl
