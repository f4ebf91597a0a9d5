#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cube/archive/counted.hpp"
#include "cube/archive/error.hpp"
#include "cube/tool/commands.hpp"
#include "cube/tool/metric_rows.hpp"

namespace tailrace::cube {
namespace {

struct DiffArguments {
  std::string left;
  std::string right;
  double tolerance = 0;
};

struct Difference {
  uint64_t values = 0;   // that differ
  double greatest = -1;  // relative
  uint32_t path = 0;     // where it is
  size_t location = 0;
  std::string left;
  std::string right;
};

double relative(const MetricRows& left, const MetricRows& right, size_t at) {
  const double one = left.number(at);
  const double other = right.number(at);
  const double size = std::max(std::fabs(one), std::fabs(other));
  const std::optional<Integer> whole = left.integer(at);
  const std::optional<Integer> other_whole = right.integer(at);
  if (whole && other_whole) {
    const Integer difference = *whole - *other_whole;
    return difference == 0 ? 0 : std::fabs(static_cast<double>(difference)) / size;
  }
  if (one == other || (std::isnan(one) && std::isnan(other))) return 0;
  return std::isfinite(size) && size > 0 ? std::fabs(one - other) / size : 1;
}

// Returns in what they differ besides values; "": in nothing.
std::string different_shape(const Input& left, const Input& right) {
  if (left.profile.locations.size() != right.profile.locations.size()) return "number of locations";
  if (left.profile.tree.size() != right.profile.tree.size()) return "number of call paths";
  for (size_t path = 0; path < left.profile.tree.size(); ++path) {
    const CallPath& one = left.profile.tree[path];
    const CallPath& other = right.profile.tree[path];
    if (one.parent != other.parent ||
        left.profile.regions[one.region].name != right.profile.regions[other.region].name) {
      return "call trees, at call path " + std::to_string(one.id);
    }
  }
  return "";
}

Difference compare(const MetricSet& left, size_t left_metric, const MetricSet& right, size_t right_metric,
                   double tolerance) {
  const size_t locations = left.input().profile.locations.size();
  MetricValues left_values(left);
  MetricValues right_values(right);
  MetricRows one(left_values, left_metric, locations);
  MetricRows other(right_values, right_metric, locations);
  Difference found;
  for (uint32_t path = 0; path < left.input().profile.tree.size(); ++path) {
    one.read(Flavour::exclusive, path);
    other.read(Flavour::exclusive, path);
    for (size_t at = 0; at < locations; ++at) {
      const double difference = relative(one, other, at);
      if (difference <= tolerance) continue;
      ++found.values;
      if (difference > found.greatest) found = {found.values, difference, path, at, one.text(at), other.text(at)};
    }
  }
  return found;
}

// Returns how many values that are no numbers differ in their bytes.
uint64_t compare_bytes(const Input& left, size_t left_metric, const Input& right, size_t right_metric) {
  const Rows& one = *left.rows[left_metric];
  const Rows& other = *right.rows[right_metric];
  const size_t bytes = one.type().bytes();
  std::vector<std::byte> row(one.row_bytes());
  std::vector<std::byte> other_row(other.row_bytes());
  uint64_t differ = 0;
  for (uint32_t id = 0; id < left.profile.tree.size(); ++id) {
    one.read(id, row);
    other.read(id, other_row);
    for (size_t at = 0; at < row.size(); at += bytes) {
      differ += std::memcmp(row.data() + at, other_row.data() + at, bytes) != 0 ? 1 : 0;
    }
  }
  return differ;
}

bool is_number(const Input& input, size_t metric) { return !input.rows[metric] || input.rows[metric]->type().number; }

std::string different(uint64_t values) { return counted(values, "value") + (values == 1 ? " differs" : " differ"); }

// Prints in what two metrics of one name differ; returns true if they do not.
bool same_values(const OwnMetrics& left, size_t left_metric, const OwnMetrics& right, size_t right_metric,
                 double tolerance) {
  const Metric& one = left.input.profile.metrics[left_metric];
  const Metric& other = right.input.profile.metrics[right_metric];
  const char* const name = one.unique_name.c_str();
  if (!is_number(left.input, left_metric) || !is_number(right.input, right_metric)) {
    if (one.data_type != other.data_type || one.kind != other.kind || other.derived()) {
      std::printf("%s: %s and %s\n", name, one.data_type.c_str(), other.data_type.c_str());
      return false;
    }
    const uint64_t differ = compare_bytes(left.input, left_metric, right.input, right_metric);
    if (differ > 0) std::printf("%s: %s\n", name, different(differ).c_str());
    return differ == 0;
  }
  const Difference found = compare(left.set, left_metric, right.set, right_metric, tolerance);
  if (found.values == 0) return true;
  std::printf("%s: %s; most, by %.3g of it, at call path %u and location %zu: %s and %s\n", name,
              different(found.values).c_str(), found.greatest, found.path, found.location, found.left.c_str(),
              found.right.c_str());
  return false;
}

// Returns true if the profiles are equal.
bool run_diff(const DiffArguments& arguments) {
  const OwnMetrics left(arguments.left);
  const OwnMetrics right(arguments.right);
  if (const std::string what = different_shape(left.input, right.input); !what.empty()) {
    std::printf("%s and %s differ in their %s\n", arguments.left.c_str(), arguments.right.c_str(), what.c_str());
    return false;
  }
  bool equal = true;
  for (size_t at = 0; at < left.input.profile.metrics.size(); ++at) {
    const std::string& name = left.input.profile.metrics[at].unique_name;
    const Metric* const other = right.input.profile.find_metric(name);
    if (other == nullptr) {
      std::printf("%s: only in %s\n", name.c_str(), arguments.left.c_str());
      equal = false;
      continue;
    }
    const auto number = static_cast<size_t>(other - right.input.profile.metrics.data());
    equal = same_values(left, at, right, number, arguments.tolerance) && equal;
  }
  for (const Metric& metric : right.input.profile.metrics) {
    if (left.input.profile.find_metric(metric.unique_name) != nullptr) continue;
    std::printf("%s: only in %s\n", metric.unique_name.c_str(), arguments.right.c_str());
    equal = false;
  }
  if (equal) {
    std::printf("equal: %s, %s, %s\n", counted(left.input.profile.metrics.size(), "metric").c_str(),
                counted(left.input.profile.tree.size(), "call path").c_str(),
                counted(left.input.profile.locations.size(), "location").c_str());
  }
  return equal;
}

// Ends as diff(1) does.
void exit_by_diff(const DiffArguments& arguments) {
  constexpr int kDiffer = 1, kTrouble = 2;
  bool equal = false;
  try {
    equal = run_diff(arguments);
    if (std::fflush(stdout) != 0) throw Error("stdout: write failed");
  } catch (const std::exception& error) {
    warn(error.what());
    throw CLI::RuntimeError(kTrouble);
  }
  if (!equal) throw CLI::RuntimeError(kDiffer);
}

}  // namespace

void add_diff(CLI::App& program) {
  const auto arguments = std::make_shared<DiffArguments>();
  CLI::App* const command =
      program.add_subcommand("diff",
                             "Compare the exclusive values of two profiles; exit code 0 if they are equal, 1 if they "
                             "differ, 2 if one cannot be read");
  command->add_option("A", arguments->left, "A profile")->required();
  command->add_option("B", arguments->right, "The profile to compare it with")->required();
  command->add_option("--tolerance", arguments->tolerance, "Relative difference that counts as equal, such as 1e-12")
      ->check(CLI::NonNegativeNumber);
  command->callback([arguments] { exit_by_diff(*arguments); });
}

}  // namespace tailrace::cube
