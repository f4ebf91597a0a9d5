// Builds tailrace's configuration from the options, as YAML text.
//
// It has one layout for all variables, v0, v1, …; the writer and the measurements share it.
#pragma once

#include <string>

#include "lab/pattern/folders.hpp"
#include "lab/pattern/options.hpp"

namespace bench {

struct TailraceConfig {
  std::string text;
  uint64_t budget = 0;  // bytes
};

// `iterations_held`: outputs of an iteration that the pool must hold; 0: as few as tailrace accepts. `trace`: the
// library writes a trace to tailrace_trace_file() when it closes.
TailraceConfig tailrace_config(const WriteOptions& options, const OutputFolders& folders, int iterations_held,
                               bool trace = false);

std::string tailrace_trace_file(const OutputFolders& folders);

}  // namespace bench
