#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "cube/archive/error.hpp"
#include "cube/remap/metric_values.hpp"
#include "cube/tool/commands.hpp"

namespace tailrace::cube {
namespace {

struct DiffArguments {
  std::string left;
  std::string right;
  double tolerance = 0;
};

struct Difference {
  uint64_t values = 0;  // that differ
  double greatest = 0;  // relative
  uint32_t path = 0;    // where it is
  size_t location = 0;
  double left = 0;
  double right = 0;
};

double relative(double left, double right) {
  if (left == right || (std::isnan(left) && std::isnan(right))) return 0;
  const double size = std::max(std::fabs(left), std::fabs(right));
  return std::isfinite(size) && size > 0 ? std::fabs(left - right) / size : 1;
}

void expect_same_shape(const Input& left, const Input& right) {
  const auto refuse = [&](const std::string& what) {
    throw Error(left.archive.path() + " and " + right.archive.path() + " differ in their " + what);
  };
  if (left.profile.locations.size() != right.profile.locations.size()) refuse("number of locations");
  if (left.profile.tree.size() != right.profile.tree.size()) refuse("number of call paths");
  for (size_t path = 0; path < left.profile.tree.size(); ++path) {
    const CallPath& one = left.profile.tree[path];
    const CallPath& other = right.profile.tree[path];
    if (one.parent != other.parent ||
        left.profile.regions[one.region].name != right.profile.regions[other.region].name) {
      refuse("call trees, at call path " + std::to_string(one.id));
    }
  }
}

Difference compare(const MetricSet& left, size_t left_metric, const MetricSet& right, size_t right_metric,
                   double tolerance) {
  MetricValues left_values(left);
  MetricValues right_values(right);
  std::vector<double> one(left.input().profile.locations.size());
  std::vector<double> other(one.size());
  Difference found;
  for (uint32_t path = 0; path < left.input().profile.tree.size(); ++path) {
    left_values.row(left_metric, Flavour::exclusive, path, one);
    right_values.row(right_metric, Flavour::exclusive, path, other);
    for (size_t at = 0; at < one.size(); ++at) {
      const double difference = relative(one[at], other[at]);
      if (difference <= tolerance) continue;
      ++found.values;
      if (difference > found.greatest) found = {found.values, difference, path, at, one[at], other[at]};
    }
  }
  return found;
}

bool is_number(const Input& input, size_t metric) { return !input.rows[metric] || input.rows[metric]->type().number; }

void run_diff(const DiffArguments& arguments) {
  const OwnMetrics left(arguments.left);
  const OwnMetrics right(arguments.right);
  expect_same_shape(left.input, right.input);
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
    if (!is_number(left.input, at) || !is_number(right.input, number)) {
      std::printf("%s: not compared: its values are no numbers\n", name.c_str());
      continue;
    }
    const Difference found = compare(left.set, at, right.set, number, arguments.tolerance);
    if (found.values == 0) continue;
    equal = false;
    std::printf("%s: %llu values differ; most, by %.3g of it, at call path %u and location %zu: %.17g and %.17g\n",
                name.c_str(), static_cast<unsigned long long>(found.values), found.greatest, found.path,
                found.location, found.left, found.right);
  }
  for (const Metric& metric : right.input.profile.metrics) {
    if (left.input.profile.find_metric(metric.unique_name) != nullptr) continue;
    std::printf("%s: only in %s\n", metric.unique_name.c_str(), arguments.right.c_str());
    equal = false;
  }
  if (!equal) throw CLI::RuntimeError(1);
  std::printf("equal: %zu metrics, %zu call paths, %zu locations\n", left.input.profile.metrics.size(),
              left.input.profile.tree.size(), left.input.profile.locations.size());
}

}  // namespace

void add_diff(CLI::App& program) {
  const auto arguments = std::make_shared<DiffArguments>();
  CLI::App* const command =
      program.add_subcommand("diff", "Compare the exclusive values of two profiles; exit code 1 if they differ");
  command->add_option("A", arguments->left, "A profile")->required();
  command->add_option("B", arguments->right, "The profile to compare it with")->required();
  command->add_option("--tolerance", arguments->tolerance, "Relative difference that is none, such as 1e-12")
      ->check(CLI::NonNegativeNumber);
  command->callback([arguments] { run_diff(*arguments); });
}

}  // namespace tailrace::cube
