// Hdf5File: a published file as HDF5 sees it: its variables and their raw bytes. Only reads.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace test {

class Hdf5File {
 public:
  explicit Hdf5File(const std::string& path) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    file_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  }
  ~Hdf5File() {
    if (file_ >= 0) H5Fclose(file_);
  }
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  bool opened() const { return file_ >= 0; }

  // Returns the names of the meshes of `iteration`, in alphabetic order, without dimension scales. Where a variable
  // is named below, it is a mesh, a component of one, "E/x", or a record of particles, "ions/weighting".
  std::vector<std::string> variables(int64_t iteration) const {
    std::vector<std::string> names;
    const hid_t group = H5Gopen2(file_, meshes(iteration).c_str(), H5P_DEFAULT);
    if (group < 0) return names;
    H5Literate2(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name, &names);
    H5Gclose(group);
    return names;
  }

  // Returns the bytes of a variable in its type in the file; empty if they cannot be read.
  std::vector<std::byte> bytes(int64_t iteration, const std::string& variable) const {
    std::vector<std::byte> bytes;
    const hid_t set = H5Dopen2(file_, path(iteration, variable).c_str(), H5P_DEFAULT);
    if (set < 0) return bytes;
    const hid_t type = H5Dget_type(set);
    const hid_t space = H5Dget_space(set);
    bytes.resize(H5Tget_size(type) * static_cast<size_t>(H5Sget_simple_extent_npoints(space)));
    if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) bytes.clear();
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    return bytes;
  }

  // Returns true if the type of a variable in the file is `native` exactly.
  bool has_type(int64_t iteration, const std::string& variable, hid_t native) const {
    const hid_t set = H5Dopen2(file_, path(iteration, variable).c_str(), H5P_DEFAULT);
    if (set < 0) return false;
    const hid_t type = H5Dget_type(set);
    const bool same = H5Tequal(type, native) > 0;
    H5Tclose(type);
    H5Dclose(set);
    return same;
  }

  // Returns the type of a variable as the configuration names it: of floats, h5py's booleans and complex numbers, and
  // unsigned integers.
  std::string type(int64_t iteration, const std::string& variable) const {
    const hid_t set = H5Dopen2(file_, path(iteration, variable).c_str(), H5P_DEFAULT);
    if (set < 0) return {};
    const hid_t type = H5Dget_type(set);
    const size_t bits = 8 * H5Tget_size(type);
    std::string name = "uint" + std::to_string(bits);
    if (H5Tget_class(type) == H5T_FLOAT) name = "float" + std::to_string(bits);
    if (H5Tget_class(type) == H5T_COMPOUND) name = "complex" + std::to_string(bits);
    if (H5Tget_class(type) == H5T_ENUM) name = "bool";
    H5Tclose(type);
    H5Dclose(set);
    return name;
  }

  // Returns the coordinates along the first axis of a mesh, from its dimension scale; empty if it has none.
  std::vector<double> coordinates(int64_t iteration, const std::string& variable) const {
    std::vector<double> values;
    const hid_t set = H5Dopen2(file_, path(iteration, variable).c_str(), H5P_DEFAULT);
    const hid_t attribute = set < 0 ? set : H5Aopen(set, "DIMENSION_LIST", H5P_DEFAULT);
    if (attribute >= 0) {
      const hid_t type = H5Aget_type(attribute);
      const hid_t space = H5Aget_space(attribute);
      std::vector<hvl_t> lists(static_cast<size_t>(H5Sget_simple_extent_npoints(space)));
      if (H5Aread(attribute, type, lists.data()) >= 0 && lists[0].len == 1) read_scale(set, lists[0].p, values);
      H5Treclaim(type, space, H5P_DEFAULT, lists.data());
      H5Sclose(space);
      H5Tclose(type);
      H5Aclose(attribute);
    }
    if (set >= 0) H5Dclose(set);
    return values;
  }

  std::vector<hsize_t> shape(int64_t iteration, const std::string& variable) const {
    const hid_t set = H5Dopen2(file_, path(iteration, variable).c_str(), H5P_DEFAULT);
    if (set < 0) return {};
    const hid_t space = H5Dget_space(set);
    std::vector<hsize_t> shape(static_cast<size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    H5Sclose(space);
    H5Dclose(set);
    return shape;
  }

  // Returns a real number that is an attribute of a variable, or, if that is "", of the iteration; NaN if there is
  // none.
  double real(int64_t iteration, const std::string& variable, const char* name) const {
    double value = std::numeric_limits<double>::quiet_NaN();
    const std::string of = variable.empty() ? "/data/" + std::to_string(iteration) : path(iteration, variable);
    const hid_t attribute = H5Aopen_by_name(file_, of.c_str(), name, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0) return value;
    H5Aread(attribute, H5T_NATIVE_DOUBLE, &value);
    H5Aclose(attribute);
    return value;
  }

 private:
  static std::string path(int64_t iteration, const std::string& variable) {
    const bool of_particles = variable.find('/') != std::string::npos && !variable.starts_with("E/");
    return "/data/" + std::to_string(iteration) + (of_particles ? "/particles/" : "/meshes/") + variable;
  }
  static std::string meshes(int64_t iteration) { return "/data/" + std::to_string(iteration) + "/meshes"; }
  static herr_t add_name(hid_t group, const char* name, const H5L_info2_t*, void* names) {
    const bool is_scale = H5Aexists_by_name(group, name, "CLASS", H5P_DEFAULT) > 0;
    if (!is_scale) static_cast<std::vector<std::string>*>(names)->push_back(name);
    return 0;
  }
  static void read_scale(hid_t of, const void* reference, std::vector<double>& values) {
    const hid_t scale = H5Rdereference2(of, H5P_DEFAULT, H5R_OBJECT, reference);
    if (scale < 0) return;
    const hid_t space = H5Dget_space(scale);
    values.resize(static_cast<size_t>(H5Sget_simple_extent_npoints(space)));
    if (H5Dread(scale, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) values.clear();
    H5Sclose(space);
    H5Oclose(scale);
  }

  hid_t file_ = -1;
};

}  // namespace test
