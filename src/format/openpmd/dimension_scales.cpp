#include "format/openpmd/dimension_scales.hpp"

#include <array>
#include <cstddef>

#include "format/openpmd/attributes.hpp"

namespace tailrace::impl {
namespace {

// Refers to an object by its own path.
bool refer(hid_t object, hobj_ref_t& reference) { return H5Rcreate(&reference, object, ".", H5R_OBJECT, -1) >= 0; }

bool put(hid_t object, const char* name, hid_t type, hsize_t count, const void* values) {
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Handle attribute(H5Acreate2(object, name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  return attribute.valid() && H5Awrite(attribute.id(), type, values) >= 0;
}

Handle create(hid_t group, const char* name, hsize_t points) {
  const Handle space(H5Screate_simple(1, &points, nullptr), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const bool ok = space.valid() && creation.valid() && H5Pset_obj_track_times(creation.id(), false) >= 0 &&
                  H5Pset_attr_phase_change(creation.id(), 64, 32) >= 0;
  if (!ok) return {};
  return {H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Dclose};
}

// Returns the name of the mesh to which a component belongs.
std::string mesh_of(const Variable& variable) { return variable.name.substr(0, variable.name.find('/')); }

}  // namespace

bool DimensionScales::attach(hid_t dataset, const Variable& variable, const Layout& layout,
                             const std::vector<uint64_t>& shape, const std::vector<uint64_t>& offset) {
  const size_t rank = shape.size();
  if (layout.scalar) return true;
  hobj_ref_t self{};
  if (!refer(dataset, self)) return false;
  std::vector<hobj_ref_t> references(rank);
  std::vector<hvl_t> lists(rank);
  bool any = false;
  for (size_t axis = 0; axis < rank; ++axis) {
    lists[axis] = {0, nullptr};
    if (shape[axis] == 0 || shape[axis] > kMostPoints) continue;
    const double shift = axis < variable.record.position.size() ? variable.record.position[axis] : 0.0;
    const double first = layout.origin[axis] + (static_cast<double>(offset[axis]) + shift) * layout.spacing[axis];
    const Axis of{layout.axes[axis], shape[axis], first, layout.spacing[axis], layout.grid_unit.factor, shift != 0.0};
    Scale* const scale = scale_of(of, mesh_of(variable), layout.grid_unit);
    if (scale == nullptr) return false;
    scale->users.push_back({self, static_cast<uint32_t>(axis)});
    references[axis] = scale->reference;
    lists[axis] = {1, &references[axis]};
    any = true;
  }
  if (!any) return true;
  const Handle type(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
  return type.valid() && put(dataset, "DIMENSION_LIST", type.id(), rank, lists.data());
}

// Returns null if HDF5 failed.
DimensionScales::Scale* DimensionScales::scale_of(const Axis& axis, const std::string& mesh, const Unit& unit) {
  const auto [found, is_new] = scales_.try_emplace(axis);
  Scale& scale = found->second;
  if (!is_new) return &scale;
  std::string name = axis.label;
  if (axis.shifted || names_.contains(name)) name = mesh + "_" + axis.label;
  while (!names_.insert(name).second) name += "_";
  scale.dataset = create(meshes_, name.c_str(), axis.points);
  const bool ok = scale.dataset.valid() && refer(scale.dataset.id(), scale.reference) &&
                  describe(scale.dataset.id(), name, axis, unit);
  return ok ? &scale : nullptr;
}

bool DimensionScales::describe(hid_t scale, const std::string& name, const Axis& axis, const Unit& unit) {
  std::vector<double> values(axis.points);
  for (size_t i = 0; i < values.size(); ++i) values[i] = axis.first + static_cast<double>(i) * axis.spacing;
  if (H5Dwrite(scale, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) return false;
  const std::array<std::string, 1> label = {axis.label};
  const std::array<double, 1> zero = {0.0};
  return put_text(scale, "CLASS", "DIMENSION_SCALE") && put_text(scale, "NAME", name) &&
         put_text(scale, "geometry", "cartesian") && put_text(scale, "dataOrder", "C") &&
         put_texts(scale, "axisLabels", label) && put_doubles(scale, "gridSpacing", std::span(&axis.spacing, 1)) &&
         put_doubles(scale, "gridGlobalOffset", std::span(&axis.first, 1)) &&
         put_double(scale, "gridUnitSI", axis.unit) && put_double(scale, "timeOffset", 0.0) &&
         put_doubles(scale, "unitDimension", unit.dimension) && put_double(scale, "unitSI", axis.unit) &&
         put_doubles(scale, "position", zero) && (unit.symbol.empty() || put_text(scale, "units", unit.symbol));
}

bool DimensionScales::finish() {
  const Handle type(H5Tcreate(H5T_COMPOUND, sizeof(User)), H5Tclose);
  const bool ok = H5Tinsert(type.id(), "dataset", offsetof(User, dataset), H5T_STD_REF_OBJ) >= 0 &&
                  H5Tinsert(type.id(), "dimension", offsetof(User, dimension), H5T_NATIVE_UINT32) >= 0;
  if (!ok) return false;
  for (auto& [axis, scale] : scales_) {
    if (!put(scale.dataset.id(), "REFERENCE_LIST", type.id(), scale.users.size(), scale.users.data())) return false;
    if (!scale.dataset.reset()) return false;
  }
  return true;
}

}  // namespace tailrace::impl
