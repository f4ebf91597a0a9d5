// SeedRunner: runs seeds in separate processes, so that an abort, a hang or a sanitizer's stop is a finding like any
// other. It also reduces a failing run.
//
// Each batch of seeds is a fork of this process, in a scratch directory. It does not know what a seed does.
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
  std::string output;   // what the process printed
};

class SeedRunner {
 public:
  using Run = std::function<void(uint64_t seed, const RunOptions& options)>;

  explicit SeedRunner(Run run);
  ~SeedRunner();

  // Returns the first of `count` seeds from `first` that fails, if any does.
  std::optional<Finding> run(uint64_t first, uint64_t count, const RunOptions& options);
  // Runs one seed, whose output goes to stdout and stderr at once.
  std::optional<Finding> run_aloud(uint64_t seed, const RunOptions& options);
  // Returns the options that leave out as much as possible while the seed still fails.
  RunOptions shrunk(uint64_t seed, RunOptions options);

 private:
  [[noreturn]] void child(uint64_t first, uint64_t count, const RunOptions& options);

  const Run run_;
  std::string scratch_;
  volatile uint64_t* current_;  // shared with the child: the seed that it runs
};

// Returns the options in the form of the command line: " --without hard,deaths --operations 3".
std::string as_arguments(const RunOptions& options);
// Returns false if one of the `words` is not a member of Without.
bool leave_out(const std::string& words, Without& without);

}  // namespace tailrace::impl::simulation
