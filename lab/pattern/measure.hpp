// measure(): measures the inputs of the models, as cumulated times. It fits nothing.
//
// regression: synchronous writes in a row. saturation: blocks handed to tailrace back to back by alloc and commit,
// without computing or copying, and the times when the n-th was written. saturation-busy: the same while the caller
// computes all the time, which takes memory bandwidth and power from the writing. saturation-write: as saturation,
// but with `write`, whose copies take memory bandwidth from the writing. write-copy: the time of those copies while
// nothing is written. req: submitting small requests. copy: warm memcpys.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/pattern/options.hpp"

namespace bench {

// Pairs (count, seconds until then).
using Samples = std::vector<std::pair<int, double>>;

struct Measured {
  Samples samples;
  bool bypasses_cache = false;
  std::string description;
};

// Throws UsageError, RunError and tailrace::Error.
Measured measure(const MeasureOptions& options);

// Returns the document that `pattern measure` prints.
std::string json_of(const MeasureOptions& options, const Measured& measured);

}  // namespace bench
