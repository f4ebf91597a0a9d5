// make_scheduler: makes the scheduler that a configuration selects (`schedule.kind`). Only this names their classes.
#pragma once

#include <memory>

#include "engine/schedule/scheduler.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

std::unique_ptr<Scheduler> make_scheduler(const Config& config);

}  // namespace tailrace::impl
