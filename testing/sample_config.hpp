// Configurations for tests, built without a file: a few variables of given types and shapes.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/block.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

struct SampleVariable {
  std::string name;
  ElementType type = ElementType::float64;
  std::vector<uint64_t> shape = {16};
};

// Returns a configuration with one layout for each variable, files called "sim", and the smallest budget that is a
// page.
inline Config sample_config(std::vector<std::string> paths, const std::vector<SampleVariable>& variables) {
  Config config;
  config.source = "sample.yaml";
  config.name = "sim";
  config.storage.paths = std::move(paths);
  config.storage.existing = Existing::resume;  // the iteration may already exist, from an earlier run
  config.place.choice = CpuChoice::none;
  config.memory.budget = 4096;
  for (const SampleVariable& variable : variables) {
    Layout layout;
    layout.name = variable.name + "_layout";
    layout.type = variable.type;
    layout.shape = layout.global_shape = variable.shape;
    const size_t rank = variable.shape.size();
    layout.offset.assign(rank, 0);
    for (size_t axis = 0; axis < rank; ++axis) layout.axes.push_back("xyzt"[axis] + std::string());
    layout.spacing.assign(rank, 1.0);
    layout.origin.assign(rank, 0.0);
    layout.grid_unit.dimension[0] = 1;
    config.variables.push_back({variable.name, static_cast<uint32_t>(config.layouts.size()), {}, {}});
    config.layouts.push_back(std::move(layout));
  }
  return config;
}

// Returns a block of the configuration, with its layout at open.
inline Block block_of(const Config& config, uint32_t variable, int64_t iteration, int source = 0) {
  return {variable, iteration, source, std::make_shared<const Layout>(config.layout_of(config.variables[variable]))};
}

}  // namespace tailrace::impl
