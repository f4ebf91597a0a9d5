#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

#include "cube/archive/counted.hpp"
#include "cube/tool/commands.hpp"

namespace tailrace::cube {
namespace {

const char* kind_name(Metric::Kind kind) {
  switch (kind) {
    case Metric::Kind::exclusive: return "exclusive";
    case Metric::Kind::inclusive: return "inclusive";
    case Metric::Kind::prederived_exclusive: return "prederived, exclusive";
    case Metric::Kind::prederived_inclusive: return "prederived, inclusive";
    default: return "postderived";
  }
}

int depth_of(const std::vector<Metric>& metrics, int metric) {
  int depth = 0;
  for (int parent = metrics[static_cast<size_t>(metric)].parent; parent >= 0;
       parent = metrics[static_cast<size_t>(parent)].parent) {
    ++depth;
  }
  return depth;
}

void print_metrics(const Input& input) {
  const std::vector<Metric>& metrics = input.profile.metrics;
  std::printf("\n%-40s %-12s %-10s %-22s %10s %12s\n", "metric", "type", "unit", "kind", "rows", "MiB");
  for (size_t at = 0; at < metrics.size(); ++at) {
    const Metric& metric = metrics[at];
    const std::string name =
        std::string(2 * static_cast<size_t>(depth_of(metrics, static_cast<int>(at))), ' ') + metric.unique_name;
    std::printf("%-40s %-12s %-10s %-22s", name.c_str(), metric.data_type.c_str(), metric.unit.c_str(),
                kind_name(metric.kind));
    if (input.rows[at]) {
      const Rows& rows = *input.rows[at];
      std::printf(" %10zu %12.3f%s", rows.index().ids.size(),
                  static_cast<double>(rows.index().ids.size() * rows.row_bytes()) / (1 << 20),
                  rows.compressed() ? ", compressed" : "");
    }
    std::printf("%s\n", metric.visibility == Metric::Visibility::ghost ? "  (ghost)" : "");
  }
}

void run_info(const std::string& path) {
  const Input input(path);
  warn_of(input);
  const Profile& profile = input.profile;
  const auto all = [](const auto& list, const char* noun) { return counted(list.size(), noun); };
  std::printf("%s: %s, %s, %s, %s in %s on %s\n", path.c_str(), all(profile.metrics, "metric").c_str(),
              all(profile.regions, "region").c_str(), all(profile.tree, "call path").c_str(),
              all(profile.locations, "location").c_str(), all(profile.groups, "group").c_str(),
              all(profile.nodes, "node").c_str());
  for (const auto& [key, value] : profile.attributes) std::printf("  %s: %s\n", key.c_str(), value.c_str());
  if (input.archive.find("remapping.spec") != nullptr) std::printf("  It has a specification for remapping.\n");
  print_metrics(input);
}

}  // namespace

void add_info(CLI::App& program) {
  const auto path = std::make_shared<std::string>();
  CLI::App* const command = program.add_subcommand("info", "Print what a profile contains");
  command->add_option("FILE", *path, "The profile")->required();
  command->callback([path] { run_info(*path); });
}

}  // namespace tailrace::cube
