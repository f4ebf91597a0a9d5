// OutputPlan: the metrics that a remapped profile stores, and which rows each of them has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cube/archive/data_type.hpp"
#include "cube/archive/index.hpp"
#include "cube/remap/metric_set.hpp"

namespace tailrace::cube {

// One metric with values.
struct StoredMetric {
  size_t entry = 0;     // in the MetricSet
  unsigned id = 0;      // in the output
  bool copied = false;  // its rows are those of the input; else they are computed
  Flavour flavour = Flavour::exclusive;
  DataType type;
  std::vector<uint32_t> paths;  // the call path of each row
  Index index;
  uint64_t row_bytes = 0;
};

struct OutputPlan {
  std::vector<Metric> metrics;  // of the anchor, with their ids
  std::vector<StoredMetric> stored;

  uint64_t bytes() const;  // of all rows
};

// Metrics without an expression keep the kind, the type and the rows of the input's metric; without one, they have no
// rows. Prederived metrics are computed and stored. Postderived ones, and those with an aggregation of their own,
// stay derived; with `keep_derived`, all do. VOID ones are left out. A row that has neutral values for all locations,
// whatever the input's values are, is left out, too. `threads` look for these.
OutputPlan plan_output(const MetricSet& set, ByteOrder order, bool keep_derived, unsigned threads);

}  // namespace tailrace::cube
