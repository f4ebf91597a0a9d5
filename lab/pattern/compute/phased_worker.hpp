// PhasedWorker: a kernel that cycles through phases, each of a number of tasks that do not depend on each other.
//
// One task is one pass. The threads take the tasks of a phase one by one, so that rows of unequal cost balance
// themselves; between phases they meet. The values do not depend on which thread ran which task.
#pragma once

#include "lab/pattern/compute/compute_worker.hpp"
#include "lab/pattern/compute/team.hpp"

namespace bench {

class PhasedWorker : public ComputeWorker {
 public:
  void compute(uint64_t passes) final;
  uint64_t cycle() const final;

 protected:
  explicit PhasedWorker(int threads) : team_(threads) {}
  int threads() const { return team_.size(); }
  // Returns the tasks of the present phase that are done.
  uint64_t done() const { return done_; }

  virtual int phases() const = 0;
  virtual uint64_t tasks(int phase) const = 0;
  // Many threads call this at once, each for its own tasks.
  virtual void task(int phase, uint64_t index, int thread) = 0;
  // One thread calls this when all tasks of the phase are done.
  virtual void end_phase(int phase) = 0;

 private:
  Team team_;
  int phase_ = 0;
  uint64_t done_ = 0;
};

}  // namespace bench
