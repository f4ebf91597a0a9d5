// run(): the simulated program. Iterations of computing blocks and handing them over, with every time taken.
//
// The loop of the seed's test-bed, and the only place where compute and write workers meet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/pattern/options.hpp"

namespace bench {

// In seconds, an entry an iteration; NaN where it is not known.
struct VariableTimes {
  std::vector<double> pst;     // from the end of the hand-over until the memory is needed again
  std::vector<double> write;   // from the hand-over until it was seen to be written
  std::vector<double> excess;  // by how much the write passed the PST
};

struct RunResult {
  double total = 0;  // seconds, from the first computation until everything is on storage
  std::vector<double> computing;
  std::vector<double> waiting;  // in calls for output; the last one with the final flush
  std::vector<VariableTimes> variables;
  uint64_t result_hash = 0;
  uint64_t peak_memory = 0;
  uint64_t buffer_bytes = 0;
  uint64_t budget_bytes = 0;
  bool bypasses_cache = false;
  size_t devices = 0;
  std::vector<std::string> kept;  // folders, where the user keeps them
  std::string library_trace;      // the file with the library's own trace, if there is one
  std::string description;
  std::optional<uint64_t> cache_misses;
  std::string cache_misses_reason;
};

// Throws UsageError, RunError and tailrace::Error.
RunResult run(const RunOptions& options);

// The document that `pattern run` prints.
std::string json_of(const RunOptions& options, const RunResult& result);

}  // namespace bench
