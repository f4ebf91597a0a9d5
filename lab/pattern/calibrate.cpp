// See the header. It times a few stretches of about the wanted length (within bounds), and takes their median.
#include "lab/pattern/calibrate.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "lab/pattern/clock.hpp"
#include "lab/pattern/interruption.hpp"
#include "lab/pattern/json.hpp"

namespace bench {
namespace {

constexpr double kShortest = 0.05;  // seconds of one stretch
constexpr double kLongest = 0.4;
constexpr int kStretches = 5;

double time_of(ComputeWorker& worker, uint64_t passes) {
  stop_if_interrupted();
  const double begin = now();
  worker.compute(passes);
  return now() - begin;
}

}  // namespace

Calibration calibrate(const CalibrateOptions& options) {
  const auto worker = make_compute_worker(options.compute);
  const double wanted = std::clamp(options.seconds, kShortest, kLongest);
  // Use whole cycles if they are shorter than that, since passes within one may differ.
  uint64_t passes = 1;
  double seconds = time_of(*worker, passes);
  while (seconds < wanted / 2) {
    passes *= 2;
    seconds = time_of(*worker, passes);
  }
  passes = std::max<uint64_t>(1, static_cast<uint64_t>(std::lround(static_cast<double>(passes) * wanted / seconds)));
  if (passes > worker->cycle()) passes -= passes % worker->cycle();
  std::array<double, kStretches> each{};
  for (double& one : each) one = time_of(*worker, passes) / static_cast<double>(passes);
  std::sort(each.begin(), each.end());
  const double median = each[kStretches / 2];
  return {static_cast<uint64_t>(std::max(1.0, std::round(options.seconds / median))), median};
}

std::string json_of(const CalibrateOptions& options, const Calibration& calibration) {
  return text_of({{"pattern_calibrate", 1},
                  {"compute", options.compute.kernel},
                  {"threads", options.compute.threads},
                  {"memory", name_of(options.compute.memory)},
                  {"passes", calibration.passes},
                  {"seconds_per_pass", calibration.seconds_per_pass}});
}

}  // namespace bench
