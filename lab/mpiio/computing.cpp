#include "lab/mpiio/computing.hpp"

#include <algorithm>
#include <cmath>

#include "lab/mpiio/mpi.hpp"
#include "lab/pattern/clock.hpp"

namespace bench::mpiio {
namespace {

constexpr double kLongest = 0.2;  // seconds of a stretch of the calibration
constexpr int kStretches = 3;

}  // namespace

Computing::Computing(const std::string& kernel) : worker_(make_compute_worker({.kernel = kernel})) {}

// Returns the slowest rank's time.
double Computing::time_of(uint64_t passes) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now();
  worker_->compute(passes);
  return largest(now() - begin);
}

void Computing::calibrate(double seconds) {
  passes_ = 0;
  if (!(seconds > 0)) return;
  const double wanted = std::min(seconds, kLongest);
  uint64_t passes = 1;
  double took = time_of(passes);
  while (took < wanted / 2) {
    passes *= 2;
    took = time_of(passes);
  }
  double least = took;
  for (int i = 0; i < kStretches; ++i) least = std::min(least, time_of(passes));
  passes_ = static_cast<uint64_t>(std::max(1.0, std::round(seconds / least * static_cast<double>(passes))));
}

double Computing::part_of(uint64_t passes) {
  if (passes == 0) return 0;
  const double begin = now();
  worker_->compute(passes);
  return now() - begin;
}

}  // namespace bench::mpiio
