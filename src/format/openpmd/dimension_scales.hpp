// DimensionScales: the coordinates of an iteration's meshes, as HDF5's dimension scales, by which netCDF and xarray
// know the axes of an array.
//
// A scale is a mesh of one dimension itself, beside the others, so that openPMD's readers take it for one. It has the
// label of the axis as its name; "<mesh>_<label>" if the values are between the points of the grid, if another mesh
// has other coordinates under that label, or if a variable has that name. The caller holds LibraryLock. Each function
// returns false if HDF5 failed. The attributes are those of "HDF5 Dimension Scale Specification", III.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "format/openpmd/handle.hpp"
#include "model/variable.hpp"

namespace tailrace::impl {

class DimensionScales {
 public:
  // Longer axes have no scale.
  static constexpr uint64_t kMostPoints = uint64_t{1} << 20;

  // `meshes`: the group of the meshes, in which the scales are made; `names`: of meshes, which no scale takes.
  DimensionScales(hid_t meshes, std::set<std::string> names) : meshes_(meshes), names_(std::move(names)) {}

  // Attaches its scales to a mesh, or a component of one. `shape`, `offset`: of the dataset in the whole array.
  bool attach(hid_t dataset, const Variable& variable, const Layout& layout, const std::vector<uint64_t>& shape,
              const std::vector<uint64_t>& offset);
  // Completes the scales: they refer to the meshes that have them.
  bool finish();

 private:
  // An axis of a grid: two meshes with equal ones share a scale.
  struct Axis {
    std::string label;
    uint64_t points = 0;
    double first = 0;
    double spacing = 0;
    double unit = 0;       // factor to SI
    bool shifted = false;  // the values are between the points of the grid

    auto operator<=>(const Axis&) const = default;
  };
  struct User {
    hobj_ref_t dataset{};
    uint32_t dimension = 0;
  };
  struct Scale {
    Handle dataset;
    hobj_ref_t reference{};
    std::vector<User> users;
  };

  Scale* scale_of(const Axis& axis, const std::string& mesh, const Unit& unit);
  bool describe(hid_t scale, const std::string& name, const Axis& axis, const Unit& unit);

  const hid_t meshes_;
  std::set<std::string> names_;  // that are taken
  std::map<Axis, Scale> scales_;
};

}  // namespace tailrace::impl
