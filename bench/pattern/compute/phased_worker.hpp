// PhasedWorker: a kernel that goes round through phases, each of so many tasks that do not depend on each other.
//
// One task is one pass. The threads take the tasks of a phase one by one, so that rows of unequal cost spread by
// themselves; between phases they meet. Which thread ran what does not show in the values.
#pragma once

#include "bench/pattern/compute/compute_worker.hpp"
#include "bench/pattern/compute/team.hpp"

namespace bench {

class PhasedWorker : public ComputeWorker {
 public:
  void compute(uint64_t passes) final;
  uint64_t cycle() const final;

 protected:
  explicit PhasedWorker(int threads) : team_(threads) {}
  int threads() const { return team_.size(); }
  // Tasks of the phase under way that have been done.
  uint64_t done() const { return done_; }

  virtual int phases() const = 0;
  virtual uint64_t tasks(int phase) const = 0;
  // Called by many threads at once, each with tasks of its own.
  virtual void task(int phase, uint64_t index, int thread) = 0;
  // Called by one thread when all tasks of the phase have been done.
  virtual void end_phase(int phase) = 0;

 private:
  Team team_;
  int phase_ = 0;
  uint64_t done_ = 0;
};

}  // namespace bench
