// The configuration of tailrace that the options amount to, as YAML text.
//
// One layout for all variables, v0, v1, …; the writer and the measurements use it alike.
#pragma once

#include <string>

#include "bench/pattern/folders.hpp"
#include "bench/pattern/options.hpp"

namespace bench {

struct TailraceConfig {
  std::string text;
  uint64_t budget = 0;  // bytes
};

// `iterations_held`: how many outputs of an iteration the pool must hold; 0: as little as tailrace takes. `trace`:
// whether the library writes a trace when it closes, to tailrace_trace_file().
TailraceConfig tailrace_config(const WriteOptions& options, const OutputFolders& folders, int iterations_held,
                               bool trace = false);

std::string tailrace_trace_file(const OutputFolders& folders);

}  // namespace bench
