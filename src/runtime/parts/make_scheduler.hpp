// make_scheduler: makes the scheduler that a configuration selects (`schedule.kind`). Only this names their classes.
//
// It knows neither clock nor engine, and starts nothing.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.hpp"
#include "engine/schedule/scheduler.hpp"
#include "model/config/settings.hpp"

namespace tailrace::impl {

// `forwarder` is the number of this one among those that write to the same data servers, and `origin` the time, on
// the engine's clock, at which windows of all of them begin: on one machine 0, elsewhere that of a common moment,
// such as the beginning of the system clock.
std::unique_ptr<Scheduler> make_scheduler(const ScheduleSettings& schedule, uint32_t forwarder = 0,
                                          Nanoseconds origin = {});

}  // namespace tailrace::impl
