#include "runtime/parts/make_scheduler.hpp"

#include "base/assert.hpp"
#include "engine/schedule/adaptive.hpp"
#include "engine/schedule/fifo.hpp"
#include "engine/schedule/hbrr.hpp"
#include "engine/schedule/twins.hpp"

namespace tailrace::impl {

std::unique_ptr<Scheduler> make_scheduler(const ScheduleSettings& schedule, uint32_t forwarder, Nanoseconds origin) {
  Twins::Options twins;
  twins.forwarder = forwarder;
  twins.window = schedule.window;
  twins.batch = schedule.batch;
  twins.origin = origin;
  switch (schedule.kind) {
    case ScheduleKind::fifo: return std::make_unique<Fifo>();
    case ScheduleKind::hbrr: return std::make_unique<Hbrr>(Hbrr::Options{schedule.quantum, schedule.batch});
    case ScheduleKind::twins: return std::make_unique<Twins>(twins);
    case ScheduleKind::adaptive:
      // Forwarders that have the same dice try the same windows at the same time.
      return std::make_unique<Adaptive>(Adaptive::Options{twins, Adaptive::usual_windows(), 1});
  }
  TAILRACE_ASSERT(false);
}

}  // namespace tailrace::impl
