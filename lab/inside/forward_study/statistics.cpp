#include "lab/inside/forward_study/statistics.hpp"

#include <cmath>
#include <numbers>

namespace tailrace::impl::study {
namespace {

double density(double t, double degrees) {
  const double log_factor = std::lgamma((degrees + 1) / 2) - std::lgamma(degrees / 2);
  const double factor = std::exp(log_factor) / std::sqrt(degrees * std::numbers::pi);
  return factor * std::pow(1 + t * t / degrees, -(degrees + 1) / 2);
}

// Returns the probability of −t … t, by Simpson's rule.
double within(double t, double degrees) {
  constexpr int kSteps = 4000;
  const double step = t / kSteps;
  double sum = density(0, degrees) + density(t, degrees);
  for (int i = 1; i < kSteps; ++i) sum += (i % 2 == 1 ? 4 : 2) * density(i * step, degrees);
  return 2 * sum * step / 3;
}

}  // namespace

double student_t(double confidence, unsigned degrees) {
  double low = 0;
  double high = 1;
  while (within(high, degrees) < confidence && high < 1e6) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (within(middle, degrees) < confidence ? low : high) = middle;
  }
  return (low + high) / 2;
}

Summary summary_of(std::span<const double> values, double confidence) {
  const auto count = static_cast<double>(values.size());
  Summary summary;
  for (const double value : values) summary.mean += value / count;
  if (values.size() < 2) return summary;
  double squares = 0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  const double deviation = std::sqrt(squares / (count - 1));
  summary.half = student_t(confidence, static_cast<unsigned>(values.size() - 1)) * deviation / std::sqrt(count);
  return summary;
}

}  // namespace tailrace::impl::study
