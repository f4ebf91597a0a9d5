// SharedRun: what the processes of a run share: a barrier, and a page of results for each.
//
// It is created before they are forked, in anonymous shared memory. Times are of bench::now(), the same for all.
#pragma once

#include <array>
#include <cstdint>

#include "lab/core/options.hpp"
#include "lab/core/shared_memory.hpp"
#include "lab/core/way.hpp"

namespace bench::core {

// Written by its own process alone, read after that has ended.
struct ProcessResult {
  double started = 0;   // when it begins to compute
  double computed = 0;  // seconds computing
  double left = 0;      // when it put its last output
  double done = 0;      // when that is written
  double waited = 0;
  Filtered filtered;
  std::array<char, 512> description{};
};

class SharedRun {
 public:
  explicit SharedRun(const RunOptions& options);

  // Waits for all processes of the run.
  void meet() const { barrier_.meet(); }

  ProcessResult& of(int process) const { return results_[process]; }
  // Return when an iteration's output began, and when it ended.
  double& begin(int process, int iteration) const { return times_[kTimes * at(process, iteration)]; }
  double& end(int process, int iteration) const { return times_[kTimes * at(process, iteration) + 1]; }
  // Returns the time of an iteration's kernel, by the clock of its thread.
  double& cpu(int process, int iteration) const { return times_[kTimes * at(process, iteration) + 2]; }

 private:
  static constexpr int kTimes = 3;  // for each iteration of each process

  int64_t at(int process, int iteration) const { return static_cast<int64_t>(process) * iterations_ + iteration; }

  const int iterations_;
  const Barrier barrier_;
  const SharedMemory results_memory_;
  const SharedMemory times_memory_;
  ProcessResult* const results_;
  double* const times_;
};

// Copies a text, truncated to fit.
void set_text(std::array<char, 512>& to, const char* text);

}  // namespace bench::core
