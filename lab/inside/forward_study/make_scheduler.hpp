// make_study_scheduler: makes the real scheduler of a forwarder, with the settings of the study.
#pragma once

#include <memory>

#include "engine/schedule/scheduler.hpp"
#include "lab/inside/forward_study/parameters.hpp"

namespace tailrace::impl::study {

// `skew`: by so much the windows of this forwarder begin later. Requires that the schedule forwards.
std::unique_ptr<Scheduler> make_study_scheduler(const Schedule& schedule, const Parameters& parameters,
                                                uint32_t forwarder, Nanoseconds skew);

}  // namespace tailrace::impl::study
