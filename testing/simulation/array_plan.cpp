#include "testing/simulation/array_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tailrace::impl::simulation {
namespace {

constexpr uint64_t kMostRank = 8;  // TAILRACE_MAX_RANK

ElementType some_type(SplitDice& dice, ElementType type, uint64_t elements) {
  using enum ElementType;
  if (type == float64) {
    return dice.one_of({float64, float64, complex64, elements % 2 == 0 ? complex128 : complex64});
  }
  return dice.one_of({uint8, uint8, boolean, elements % 2 == 0 ? float16 : boolean});
}

// Gives the array another type for the same bytes.
void have_type(SplitDice& dice, Layout& layout) {
  const uint64_t bytes = layout.bytes();
  layout.type = some_type(dice, layout.type, layout.shape[0]);
  layout.shape[0] = bytes / size_of(layout.type);
}

// Adds axes of few elements behind the first.
void have_axes(SplitDice& dice, Layout& layout) {
  uint64_t row = 1;
  for (uint64_t axes = dice.chance(70) ? 1 : dice.between(2, kMostRank - 1); axes > 0; --axes) {
    const uint64_t extent = dice.one_of<uint64_t>({1, 1, 2, 3});
    if (layout.shape[0] < row * extent) break;
    row *= extent;
    layout.shape.push_back(extent);
  }
  layout.shape[0] /= row;
}

void be_scalar(Layout& layout) {
  layout.scalar = true;
  layout.shape = {1};
}

// Completes the layout of a mesh that has its shape: a grid, and from where its length comes.
void have_grid(SplitDice& dice, uint32_t variable, Layout& layout) {
  const size_t rank = layout.shape.size();
  layout.global_shape = layout.shape;
  layout.offset.assign(rank, 0);
  layout.axes.clear();
  layout.spacing.clear();
  layout.origin.clear();
  for (size_t axis = 0; axis < rank; ++axis) {
    // Some labels are the names of variables.
    layout.axes.push_back(std::string(1, (dice.chance(20) ? "abcdefgh" : "xyztuvwq")[axis]));
    layout.spacing.push_back(dice.one_of({1.0, 1.0, 0.5, -2.0}));
    layout.origin.push_back(dice.one_of({0.0, 0.0, 7.5}));
  }
  const std::vector<int32_t> none(rank, kNoParameter);
  layout.sources = {none, none, none};
  if (layout.scalar) return;
  layout.sources.shape[0] = layout.sources.global_shape[0] = static_cast<int32_t>(variable);
}

// Makes the first meshes the components of a vector.
void have_vector(SplitDice& dice, size_t meshes, Config& config) {
  const size_t components = std::min<size_t>(meshes, dice.between(2, 3));
  for (uint32_t i = 0; i < components; ++i) {
    const std::string name = config.layouts[i].name;
    config.layouts[i] = config.layouts[0];
    config.layouts[i].name = name;
    config.variables[i].name = "E/" + config.variables[i].name;
    config.variables[i].record.vector = true;
  }
}

void move_grids(Config& config) {
  const auto parameter = static_cast<int32_t>(config.parameters.size());
  config.parameters.push_back({kOriginParameter, origin_of(0)});
  for (const Variable& variable : config.variables) {
    Layout& layout = config.layouts[variable.layout];
    if (variable.record.of_particles || layout.scalar) continue;
    layout.sources.origin.assign(layout.shape.size(), kNoParameter);
    layout.sources.origin[0] = parameter;
    layout.origin[0] = origin_of(0);
  }
}

}  // namespace

void vary_arrays(SplitDice dice, Config& config) {
  if (dice.chance(40)) return;
  size_t meshes = 0;
  for (uint32_t i = 0; i < config.variables.size(); ++i) {
    Variable& variable = config.variables[i];
    Layout& layout = config.layouts[i];
    if (dice.chance(60)) have_type(dice, layout);
    if (variable.record.of_particles) {
      layout.global_shape = layout.shape;
      if (dice.chance(50)) variable.name = "ions/position/x";
      variable.record.vector = variable.name == "ions/position/x";
    } else {
      ++meshes;
      if (dice.chance(40)) have_axes(dice, layout);
      if (dice.chance(15)) be_scalar(layout);
      have_grid(dice, i, layout);
    }
  }
  if (meshes > 1 && dice.chance(40)) have_vector(dice, meshes, config);
  for (uint32_t i = 0; i < config.variables.size(); ++i) {
    config.parameters[i].value = static_cast<int64_t>(config.layouts[i].shape[0]);
  }
  config.format.dimension_scales = dice.chance(50);
  if (dice.chance(40)) move_grids(config);
}

bool grids_move(const Config& config) { return config.find_parameter(kOriginParameter) >= 0; }

void hold_grids(Config& config) {
  if (!grids_move(config)) return;
  config.parameters.pop_back();
  for (Layout& layout : config.layouts) layout.sources.origin.clear();
}

int32_t leader_of(const Config& config, uint32_t variable) { return config.layouts[variable].sources.shape[0]; }

uint64_t bytes_of_length(const Layout& layout, uint64_t length) {
  uint64_t bytes = length * size_of(layout.type);
  for (size_t axis = 1; axis < layout.shape.size(); ++axis) bytes *= layout.shape[axis];
  return bytes;
}

}  // namespace tailrace::impl::simulation
