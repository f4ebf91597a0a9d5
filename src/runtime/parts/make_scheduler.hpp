// make_scheduler: the scheduler that a configuration asks for (`schedule.kind`). Here alone their classes are named.
#pragma once

#include <memory>

#include "engine/schedule/scheduler.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

std::unique_ptr<Scheduler> make_scheduler(const Config& config);

}  // namespace tailrace::impl
