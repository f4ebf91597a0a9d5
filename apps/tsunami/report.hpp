// report: writes a run's data and timings, as JSON for programs and as a few lines for people.
//
// With several processes, times and timeline are those of the first, which ends with the last; the counters are sums.
#pragma once

#include "options.hpp"
#include "run.hpp"

namespace tsunami {

// Writes both, as the options request. Throws Error.
void report(const Options& options, const Result& result);

}  // namespace tsunami
