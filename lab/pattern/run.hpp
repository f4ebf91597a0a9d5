// run(): the simulated program. It computes blocks and hands them over, iteration after iteration, and takes all
// times.
//
// It is the loop of the test-bed of Sid Lakhdar 2017, and the only place where compute and write workers meet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/pattern/options.hpp"

namespace bench {

// In seconds, one entry for each iteration; NaN if not known.
struct VariableTimes {
  std::vector<double> pst;     // from the end of the hand-over until the memory is needed again
  std::vector<double> write;   // from the hand-over until the end of the write was noticed
  std::vector<double> excess;  // how much longer the write took than the PST
};

struct RunResult {
  double total = 0;  // seconds, from the first computation until everything is on storage
  std::vector<double> computing;
  std::vector<double> waiting;  // in calls for output; the last one includes the final flush
  std::vector<VariableTimes> variables;
  uint64_t result_hash = 0;
  uint64_t peak_memory = 0;
  uint64_t buffer_bytes = 0;
  uint64_t budget_bytes = 0;
  bool bypasses_cache = false;
  size_t devices = 0;
  std::vector<std::string> kept;  // folders, if the user keeps them
  std::string library_trace;      // the file with the library's own trace, if any
  std::string description;
  std::optional<uint64_t> cache_misses;
  std::string cache_misses_reason;
};

// Throws UsageError, RunError and tailrace::Error.
RunResult run(const RunOptions& options);

// Returns the document that `pattern run` prints.
std::string json_of(const RunOptions& options, const RunResult& result);

}  // namespace bench
