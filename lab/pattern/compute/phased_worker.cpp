// The cycle through the phases. See the header.
#include "lab/pattern/compute/phased_worker.hpp"

#include <algorithm>

namespace bench {

void PhasedWorker::compute(uint64_t passes) {
  while (passes > 0) {
    const uint64_t end = done_ + std::min(passes, tasks(phase_) - done_);
    team_.hand_out(done_, end, [this](uint64_t index, int thread) { task(phase_, index, thread); });
    passes -= end - done_;
    done_ = end;
    if (done_ < tasks(phase_)) continue;
    end_phase(phase_);
    done_ = 0;
    phase_ = (phase_ + 1) % phases();
  }
}

uint64_t PhasedWorker::cycle() const {
  uint64_t passes = 0;
  for (int phase = 0; phase < phases(); ++phase) passes += tasks(phase);
  return passes;
}

}  // namespace bench
