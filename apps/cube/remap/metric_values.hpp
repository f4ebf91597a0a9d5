// MetricValues: the values of the metrics of a MetricSet, exclusive and inclusive, for a call path and a range of
// locations. It keeps one row of each metric that is in use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "cube/cubepl/evaluator.hpp"
#include "cube/cubepl/predefined.hpp"
#include "cube/remap/metric_set.hpp"

namespace tailrace::cube {

// One thread at a time uses it; each thread has its own.
class MetricValues : private Surroundings {
 public:
  explicit MetricValues(const MetricSet& set);
  ~MetricValues() override;

  // Fills `to` with the values of all locations.
  void row(size_t entry, Flavour flavour, uint32_t call_path, std::span<double> to);
  // Returns true if the metric stores integers: their sums and differences are integers, too, and need not be rounded
  // to doubles.
  bool is_exact(size_t entry) const;
  // Likewise, of a metric that is_exact().
  void row(size_t entry, Flavour flavour, uint32_t call_path, std::span<Integer> to);
  // Returns the sum over all locations, or what takes its place for the metric's type.
  double total(size_t entry, Flavour flavour, uint32_t call_path);
  // Returns the sum of the inclusive values of all roots, over all locations.
  double program_total(size_t entry);
  // Returns true if all values are those of a row that is left out, whatever the values of the metrics are that it
  // refers to.
  bool is_neutral(size_t entry, uint32_t call_path);

 private:
  struct Kept {
    uint32_t call_path = UINT32_MAX;
    std::vector<double> values;
  };

  // Surroundings.
  const double* metric(uint32_t symbol, const Place& place, double* memory) override;
  Value predefined(const Predefined& variable, size_t index, const Place& place, double* memory) override;
  size_t predefined_size(const Predefined& variable) override;
  std::string metric_property(uint32_t symbol, const std::string& property) override;
  void set_metric_property(uint32_t, const std::string&, const std::string&) override {}

  // Returns the values of a place, in `memory` or among those that are kept.
  const double* values(size_t entry, const Place& place, double* memory);
  const Kept& whole_row(size_t entry, Flavour flavour, uint32_t call_path);
  double computed_total(size_t entry, Flavour flavour, uint32_t call_path);
  Integer exact_total(size_t entry, Flavour flavour, uint32_t call_path);
  template <typename T>
  void read(const MetricSet::Entry& entry, uint32_t call_path, std::span<T> to);
  void add_subtree(size_t entry, uint32_t call_path, std::vector<double>& sums);
  void take_children_off(size_t entry, uint32_t call_path, std::vector<double>& values);
  double combined(const MetricSet::Entry& entry, const std::vector<double>& values);
  void combine(const MetricSet::Entry& entry, const std::optional<Program>& how, std::vector<double>& left,
               std::span<const double> right, bool add);
  MetricValues& inner();
  PredefinedSource source() const;

  const MetricSet& set_;
  const uint32_t locations_;
  Evaluator evaluator_;
  std::unordered_map<uint64_t, Kept> kept_;                           // by entry and flavour
  std::unordered_map<uint64_t, std::pair<uint32_t, double>> totals_;  // likewise: call path and value
  std::unordered_map<size_t, double> program_totals_;                 // by entry
  std::vector<std::byte> memory_;                                     // for reading
  std::vector<double> other_;                                         // a further row
  std::vector<Integer> integers_;                                     // likewise
  std::unique_ptr<MetricValues> inner_;  // for other call paths, while rows of one are in use
};

// Returns how values of the metric are combined.
Number::Combine combination(const Metric& metric);

}  // namespace tailrace::cube
