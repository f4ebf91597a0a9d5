#include "testing/simulation/check_arrays.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "testing/simulation/array_plan.hpp"

namespace tailrace::impl::simulation {
namespace {

constexpr uint64_t kMostPoints = uint64_t{1} << 20;  // longer axes have no scale

// Returns the difference in the scale of an axis.
std::string difference_of_scale(const Hdf5File& file, int64_t iteration, const StoredAs& as, size_t axis,
                                uint64_t points, double origin) {
  const std::optional<std::vector<double>> values = file.coordinates(iteration, as.name, axis);
  const bool expected = !as.block->scalar && points <= kMostPoints;
  if (values.has_value() != expected) {
    return fmt::format("{} coordinates of axis {} of '{}'", values ? "has" : "lacks", axis, as.name);
  }
  if (!values) return "";
  if (values->size() != points) return fmt::format("has {} coordinates of axis {}", values->size(), axis);
  for (size_t i = 0; i < points; ++i) {
    // The values are small multiples of a quarter, so that nothing is rounded.
    if ((*values)[i] == origin + static_cast<double>(i) * as.block->spacing[axis]) continue;
    return fmt::format("has another coordinate {} of axis {} of '{}'", i, axis, as.name);
  }
  return "";
}

}  // namespace

std::string difference_of_array(const Hdf5File& file, int64_t iteration, const Config& config, uint32_t variable,
                                const StoredAs& as, uint64_t bytes) {
  const Layout& layout = *as.block;
  if (!file.has_type(iteration, as.name, name_of(layout.type))) return "has another type of '" + as.name + "'";
  std::vector<uint64_t> shape = as.shared ? layout.global_shape : layout.shape;
  if (!as.shared) shape[0] = bytes / bytes_of_length(layout, 1);
  if (file.shape(iteration, as.name) != shape) return "has another shape of '" + as.name + "'";
  const Variable& of = config.variables[variable];
  const bool has_grid = !of.record.of_particles && config.format.kind != FormatKind::plain;
  if (!has_grid) return "";
  std::vector<double> origin = layout.origin;
  if (grids_move(config) && !layout.scalar) origin[0] = origin_of(iteration);
  const std::string record = of.record.vector ? as.name.substr(0, as.name.find('/')) : as.name;
  const std::string path = fmt::format("/data/{}/meshes/{}", iteration, record);
  // The blocks of a node begin where the whole array does, or are all of it.
  if (file.reals(path, "gridGlobalOffset") != origin) return "has another origin of '" + record + "'";
  if (file.reals(path, "gridSpacing") != layout.spacing) return "has another spacing of '" + record + "'";
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const std::string difference = config.format.dimension_scales
                                       ? difference_of_scale(file, iteration, as, axis, shape[axis], origin[axis])
                                       : "";
    if (!difference.empty()) return difference;
  }
  return "";
}

}  // namespace tailrace::impl::simulation
