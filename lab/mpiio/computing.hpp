// Computing: a fixed amount of floating-point work, which all ranks do at once, without any call of MPI.
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
  double once();

  // Returns a number that depends on all work so far.
  double result() const { return worker_->result(); }

 private:
  double time_of(uint64_t passes);

  std::unique_ptr<ComputeWorker> worker_;
  uint64_t passes_ = 0;
};

}  // namespace bench::mpiio
