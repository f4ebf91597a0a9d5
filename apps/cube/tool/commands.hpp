// The commands of the program tailrace-cube. Each adds itself to the command line, and runs when it was chosen.
#pragma once

#include <CLI/App.hpp>

#include <string>

#include "cube/remap/metric_set.hpp"

namespace tailrace::cube {

void add_remap(CLI::App& program);
void add_info(CLI::App& program);
void add_dump(CLI::App& program);
void add_diff(CLI::App& program);
void add_generate(CLI::App& program);

// Prints a warning to stderr.
void warn(const std::string& text);
// Prints what is odd about an input, if anything is.
void warn_of(const Input& input);

// A profile with the metrics that it has itself.
struct OwnMetrics {
  explicit OwnMetrics(const std::string& path) : input(path), set(input, input.profile.metrics, path, warn) {
    warn_of(input);
  }

  const Input input;
  const MetricSet set;
};

// Throws Error if the profile has no metric of that name.
size_t metric_number(const Input& input, const std::string& name);

}  // namespace tailrace::cube
