// Computing: a fixed amount of floating-point work, which all ranks do at once, without any call of MPI, unless the
// program asks for some.
#pragma once

#include <memory>
#include <string>

#include "lab/pattern/compute/compute_worker.hpp"

namespace bench::mpiio {

class Computing {
 public:
  explicit Computing(const std::string& kernel);

  // Finds the work that takes `seconds` when all ranks do it and nothing else is done. Collective.
  void calibrate(double seconds);

  // Does that work once; returns the seconds that it took.
  double once() {
    return once(0, [] {});
  }
  // Calls between(), `times` in all, at equal distances.
  template <class Between>
  double once(int times, Between between) {
    double seconds = 0;
    const uint64_t parts = static_cast<uint64_t>(times) + 1;
    for (uint64_t part = 0; part < parts; ++part) {
      seconds += part_of(passes_ * (part + 1) / parts - passes_ * part / parts);
      if (part + 1 < parts) between();
    }
    return seconds;
  }

  // Returns a number that depends on all work so far.
  double result() const { return worker_->result(); }

 private:
  double time_of(uint64_t passes);
  double part_of(uint64_t passes);

  std::unique_ptr<ComputeWorker> worker_;
  uint64_t passes_ = 0;
};

}  // namespace bench::mpiio
