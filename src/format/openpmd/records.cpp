#include "format/openpmd/records.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "format/openpmd/attributes.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kMostPatches = 7500;  // 64 KiB of a compact dataset, without its header
constexpr std::string_view kPosition = "position";
constexpr std::string_view kPositionOffset = "positionOffset";

bool put_particle_record(hid_t object, const Unit& unit, bool macro_weighted, double weighting_power) {
  return put_double(object, "timeOffset", 0.0) && put_doubles(object, "unitDimension", unit.dimension) &&
         put_uint32(object, "macroWeighted", macro_weighted ? 1 : 0) &&
         put_double(object, "weightingPower", weighting_power);
}

bool put_mesh_record(hid_t object, const Variable& variable, const Layout& layout,
                     const std::vector<uint64_t>& offset) {
  std::vector<double> corner(layout.origin);
  for (size_t axis = 0; axis < corner.size(); ++axis) {
    corner[axis] += static_cast<double>(offset[axis]) * layout.spacing[axis];
  }
  return put_text(object, "geometry", "cartesian") && put_text(object, "dataOrder", "C") &&
         put_texts(object, "axisLabels", layout.axes) && put_doubles(object, "gridSpacing", layout.spacing) &&
         put_doubles(object, "gridGlobalOffset", corner) &&
         put_double(object, "gridUnitSI", layout.grid_unit.factor) &&
         put_text(object, "tailraceGridUnit", layout.grid_unit.symbol) && put_double(object, "timeOffset", 0.0) &&
         put_doubles(object, "unitDimension", variable.unit.dimension);
}

// Returns the parts of "electrons/position/x" that are there.
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Returns the components of the species' record `position`, of which there is a dataset or a constant.
std::vector<std::string> position_components(const Declarations& declared, const std::string& species) {
  std::vector<std::string> components;
  for (const Variable& variable : declared.variables) {
    const std::vector<std::string> parts = parts_of(variable.name);
    const bool found = variable.record.of_particles && parts[0] == species && parts[1] == kPosition;
    if (found) components.push_back(parts.size() > 2 ? parts[2] : "");
  }
  return components;
}

bool has_record(const Declarations& declared, const std::string& species, std::string_view name) {
  const bool constant =
      std::any_of(declared.constants.begin(), declared.constants.end(),
                  [&](const ConstantRecord& one) { return one.species == species && one.name == name; });
  const std::string path = species + "/" + std::string(name);
  return constant || std::any_of(declared.variables.begin(), declared.variables.end(), [&](const Variable& one) {
           return one.record.of_particles && (one.name == path || one.name.starts_with(path + "/"));
         });
}

// Writes a small dataset into its header.
template <class T>
Handle put_compact(hid_t group, const char* name, hid_t type, const std::vector<T>& values) {
  const hsize_t count = values.size();
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const bool ok = space.valid() && creation.valid() && H5Pset_layout(creation.id(), H5D_COMPACT) >= 0 &&
                  H5Pset_obj_track_times(creation.id(), false) >= 0;
  if (!ok) return {};
  Handle dataset(H5Dcreate2(group, name, type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Dclose);
  const bool written =
      dataset.valid() && H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0;
  if (!written) dataset.reset();
  return dataset;
}

// Writes one of the two vectors of the patches' boxes.
bool put_corners(hid_t patches, const char* name, const std::vector<std::string>& components,
                 const std::vector<std::vector<double>>& columns, const Unit& unit) {
  const Handle group = create_group(patches, name);
  if (!group.valid() || !put_doubles(group.id(), "unitDimension", unit.dimension)) return false;
  for (size_t i = 0; i < components.size(); ++i) {
    const Handle dataset = put_compact(group.id(), components[i].c_str(), H5T_NATIVE_DOUBLE, columns[i]);
    if (!dataset.valid() || !put_double(dataset.id(), "unitSI", unit.factor)) return false;
  }
  return true;
}

// Returns the unit of the species' positions.
Unit position_unit(const Declarations& declared, const std::string& species) {
  const std::string path = species + "/" + std::string(kPosition);
  for (const Variable& variable : declared.variables) {
    if (variable.record.of_particles && variable.name.starts_with(path)) return variable.unit;
  }
  return {};
}

}  // namespace

bool describe_record(hid_t object, const Variable& variable, const Layout& layout,
                     const std::vector<uint64_t>& offset) {
  const Record& record = variable.record;
  if (!record.of_particles) return put_mesh_record(object, variable, layout, offset);
  return put_particle_record(object, variable.unit, record.macro_weighted, record.weighting_power);
}

bool describe_component(hid_t dataset, const Variable& variable, const Layout& layout,
                        const std::vector<uint64_t>& offset) {
  const Record& record = variable.record;
  std::vector<double> position = record.position;
  position.resize(layout.shape.size(), 0.0);
  bool ok = put_double(dataset, "unitSI", variable.unit.factor) &&
            (record.of_particles || put_doubles(dataset, "position", position)) &&
            put_text(dataset, "unit", variable.unit.symbol) &&
            put_uint64s(dataset, "tailraceGlobalShape", layout.global_shape) &&
            put_uint64s(dataset, "tailraceOffset", offset);
  if (ok && !variable.description.empty()) ok = put_text(dataset, "description", variable.description);
  return ok;
}

Handle create_group(hid_t parent, const std::string& name) {
  const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  const bool ok = creation.valid() && H5Pset_obj_track_times(creation.id(), false) >= 0 &&
                  H5Pset_attr_phase_change(creation.id(), 64, 32) >= 0;
  if (!ok) return {};
  return {H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose};
}

bool put_constant(hid_t species, const ConstantRecord& record, uint64_t count) {
  const Handle group = create_group(species, record.name);
  if (!group.valid()) return false;
  if (!put_particle_record(group.id(), record.unit, record.macro_weighted, record.weighting_power)) return false;
  for (const ConstantRecord::Component& component : record.components) {
    const Handle inner = component.name.empty() ? Handle() : create_group(group.id(), component.name);
    const hid_t object = component.name.empty() ? group.id() : inner.id();
    const std::vector<uint64_t> shape = {count};
    if (object < 0 || !put_double(object, "value", component.value) || !put_uint64s(object, "shape", shape) ||
        !put_double(object, "unitSI", record.unit.factor) || !put_text(object, "unit", record.unit.symbol)) {
      return false;
    }
  }
  return true;
}

std::vector<ConstantRecord> constants_of(const Declarations& declared, const std::string& species) {
  std::vector<ConstantRecord> records;
  for (const ConstantRecord& record : declared.constants) {
    if (record.species == species) records.push_back(record);
  }
  const std::vector<std::string> components = position_components(declared, species);
  if (components.empty() || has_record(declared, species, kPositionOffset)) return records;
  ConstantRecord offset{species, std::string(kPositionOffset), {}, Unit{"m", 1.0, {1, 0, 0, 0, 0, 0, 0}}, false, 0};
  for (const std::string& component : components) offset.components.push_back({component, 0.0});
  records.push_back(std::move(offset));
  return records;
}

bool put_patches(hid_t species, const Declarations& declared, const std::string& name,
                 const ParticlePatches& patches) {
  if (patches.size() > kMostPatches) return true;  // a reader does without them, but not with a part
  const Handle group = create_group(species, "particlePatches");
  if (!group.valid()) return false;
  std::vector<uint64_t> counts;
  std::vector<uint64_t> firsts;
  const std::vector<std::string> components = position_components(declared, name);
  std::vector<std::vector<double>> offsets(components.size());
  std::vector<std::vector<double>> extents(components.size());
  for (const auto& [client, patch] : patches) {
    counts.push_back(patch.particles);
    firsts.push_back(patch.first);
    for (size_t i = 0; i < components.size(); ++i) {
      offsets[i].push_back(patch.offset[i]);
      extents[i].push_back(patch.extent[i]);
    }
  }
  for (const auto& [key, values] : {std::pair("numParticles", &counts), std::pair("numParticlesOffset", &firsts)}) {
    const Handle dataset = put_compact(group.id(), key, H5T_NATIVE_UINT64, *values);
    if (!dataset.valid() || !put_double(dataset.id(), "unitSI", 1.0)) return false;
  }
  const Unit unit = position_unit(declared, name);
  return put_corners(group.id(), "offset", components, offsets, unit) &&
         put_corners(group.id(), "extent", components, extents, unit);
}

}  // namespace tailrace::impl
