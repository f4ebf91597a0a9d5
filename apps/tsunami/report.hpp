// Report: what a run was and took, as JSON for programs and as a few lines for people.
//
// Of several processes, times and timeline are those of the first, which ends with the last; the counters are added
// up.
#pragma once

#include "options.hpp"
#include "run.hpp"

namespace tsunami {

// Both, as the options ask for. Throws Error.
void report(const Options& options, const Result& result);

}  // namespace tsunami
