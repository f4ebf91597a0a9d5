// Median and spread of repeated measurements.
#pragma once

#include <chrono>
#include <vector>

namespace bench {

struct Summary {
  double median = 0;
  double least = 0;
  double most = 0;
};

// REQUIRES: `values` is not empty.
Summary summarise(std::vector<double> values);

// Returns the seconds since an arbitrary start.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace bench
