// remap: writes a profile with the metrics of a specification, computed from another profile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cube/archive/index.hpp"
#include "cube/remap/metric_set.hpp"
#include "cube/remap/sink.hpp"

namespace tailrace::cube {

struct RemapOptions {
  Writer writer = Writer::tailrace;
  unsigned threads = 0;  // that compute; 0: one less than there are cpus
  int writer_cpu = -1;   // no thread computes on it; -1: the threads may run anywhere
  uint64_t budget = 64 << 20;
  bool keep_derived = false;       // derived metrics stay as they are, and none is computed
  bool compress = false;           // rows by zlib
  bool durable = false;            // waits until the device has the file
  std::optional<ByteOrder> order;  // of the output; none: this machine's
};

struct RemapFigures {
  uint64_t metrics = 0;  // with values
  uint64_t rows = 0;
  uint64_t bytes = 0;  // of all rows
  uint64_t file_bytes = 0;
  unsigned threads = 0;
  double seconds = 0;
  double seconds_computing = 0;  // of the threads together
  double seconds_handing = 0;    // of the threads together: waiting for blocks, and handing them over
};

// Called now and then by the threads that compute, one at a time.
using Progress = std::function<void(uint64_t done, uint64_t all)>;

// Writes `path`, which must be another file than the input. Throws Error; the output is then PATH.partial.
RemapFigures remap(const MetricSet& set, const std::string& path, const RemapOptions& options,
                   const Progress& progress);

// Returns the metrics of the specification that the profile has in its member remapping.spec. Throws Error if it has
// none.
std::vector<Metric> own_specification(const Input& input);

}  // namespace tailrace::cube
