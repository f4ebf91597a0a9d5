// sweep: how the result of the study depends on its parameters: the same schedules on machines and with programs that
// differ from the given ones in one respect each.
//
// It prints a line for each as soon as it is there.
#pragma once

#include "lab/inside/forward_study/study_options.hpp"

namespace tailrace::impl::study {

void sweep(const StudyOptions& options);

}  // namespace tailrace::impl::study
