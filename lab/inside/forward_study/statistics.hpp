// summary_of: mean and confidence interval of a few measurements, by Student's distribution. Pure functions.
#pragma once

#include <span>

namespace tailrace::impl::study {

struct Summary {
  double mean = 0;
  double half = 0;  // the interval is mean ± half
};

// Returns t such that a variable of Student's distribution lies in −t … t with the probability `confidence`.
double student_t(double confidence, unsigned degrees);

// `confidence` below 1. A single value has the interval 0.
Summary summary_of(std::span<const double> values, double confidence);

}  // namespace tailrace::impl::study
