// calibrate(): finds how many passes of a kernel take a wanted time on this machine.
#pragma once

#include <cstdint>
#include <string>

#include "lab/pattern/options.hpp"

namespace bench {

struct Calibration {
  uint64_t passes = 1;
  double seconds_per_pass = 0;
};

// Throws UsageError and RunError.
Calibration calibrate(const CalibrateOptions& options);

// Returns the document that `pattern calibrate` prints.
std::string json_of(const CalibrateOptions& options, const Calibration& calibration);

}  // namespace bench
