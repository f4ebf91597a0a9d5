// MetricSet: the metrics of a specification and of the profile that it is applied to, with their programs parsed and
// their initialisations executed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cube/archive/archive.hpp"
#include "cube/archive/rows.hpp"
#include "cube/cubepl/evaluator.hpp"
#include "cube/cubepl/globals.hpp"
#include "cube/cubepl/symbols.hpp"
#include "cube/profile/profile.hpp"

namespace tailrace::cube {

// A profile that is open.
struct Input {
  // `scratch`: where an archive that is compressed entirely is unpacked.
  explicit Input(const std::string& path, const std::string& scratch = "");

  Archive archive;
  Profile profile;
  std::vector<std::unique_ptr<Rows>> rows;  // of each metric of the profile; null: it stores none

  // Throws Error if the metric of that number stores values that are no numbers, such as RATE or HISTOGRAM.
  void expect_numbers(size_t metric) const;
};

// Immutable after its construction, so any thread may use it.
class MetricSet {
 public:
  // Says how a program defines a metric.
  struct Definition {
    std::string statement;
    int by = -1;  // the entry whose expression or aggregation it is; -1: an initialisation
  };
  struct Entry {
    Metric metric;
    int input = -1;                     // the number of the profile's metric whose rows it has; -1: none
    std::optional<Program> expression;  // of a derived metric
    std::optional<Program> plus;        // how values are combined, if not by their sum
    std::optional<Program> minus;
    std::optional<Definition> definition;
    bool listed = false;  // in the specification

    bool hidden() const { return metric.visibility == Metric::Visibility::hidden; }  // VOID: its values are 0
  };
  using Warn = std::function<void(const std::string&)>;

  // `metrics` are those of the specification, `name` its name for errors. `warn` gets names that do not exist.
  // `input` must live as long as this. Throws Error.
  MetricSet(const Input& input, std::vector<Metric> metrics, const std::string& name, const Warn& warn);
  MetricSet(const MetricSet&) = delete;
  MetricSet& operator=(const MetricSet&) = delete;

  const Input& input() const { return input_; }
  const std::string& name() const { return name_; }
  // First those of the specification in its order, then others of the profile, then those that programs define.
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<Metric>& metrics() const { return metrics_; }
  const Globals& globals() const { return globals_; }
  // Returns the entry of a name among Symbols::metrics(); -1: there is no such metric.
  int entry_of(uint32_t symbol) const { return entry_of_[symbol]; }

 private:
  class Initialising;

  void add_entries(std::vector<Metric> metrics);
  void parse_all();
  void add_defined(int by);
  std::optional<Program> parse_code(const Metric::Code& code, const Entry& entry, const std::string& kind);
  const std::string& file_of(const Entry& entry) const;
  void resolve(const Warn& warn);
  void initialise(const std::vector<Program>& programs);
  void refuse_cycles() const;

  const Input& input_;
  const std::string name_;
  std::vector<Entry> entries_;
  std::vector<Metric> metrics_;
  Symbols symbols_;
  Globals globals_;
  std::vector<int> entry_of_;
  std::vector<Entry> defined_;  // while programs are parsed
};

}  // namespace tailrace::cube
