// SeedRunner: runs seeds in processes of their own, so that one that aborts, hangs or is stopped by a sanitizer is a
// finding like any other; and makes a failing one smaller.
//
// Each batch of seeds is a fork of this process, in a scratch directory. Knows nothing of what a seed does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "testing/simulation/session_run.hpp"

namespace tailrace::impl::simulation {

struct Finding {
  uint64_t seed = 0;
  std::string checker;  // what found it: the name of a checker, "assert", "hang", "crash"
  std::string output;   // what the process said
};

class SeedRunner {
 public:
  using Run = std::function<void(uint64_t seed, const RunOptions& options)>;

  explicit SeedRunner(Run run);
  ~SeedRunner();

  // The first of `count` seeds from `first` that fails, if one does.
  std::optional<Finding> run(uint64_t first, uint64_t count, const RunOptions& options);
  // One seed, which says what it says on stdout and stderr at once.
  std::optional<Finding> run_aloud(uint64_t seed, const RunOptions& options);
  // The options that leave out most with which the seed still fails.
  RunOptions shrunk(uint64_t seed, RunOptions options);

 private:
  [[noreturn]] void child(uint64_t first, uint64_t count, const RunOptions& options);

  const Run run_;
  std::string scratch_;
  volatile uint64_t* current_;  // shared with the child: the seed that it runs
};

// The options as the command line takes them: " --without hard,deaths --operations 3".
std::string as_arguments(const RunOptions& options);
// False if `words` has one that is none of Without's.
bool leave_out(const std::string& words, Without& without);

}  // namespace tailrace::impl::simulation
