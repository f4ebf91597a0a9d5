// The contents of an output file, as JSON: provenance, iterations, and the variables of each.
//
// Reads openPMD files of any writer, and files of the format plain (docs/formats/output.md): these are known by
// tailrace's attributes, and have nothing of openPMD.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "command/output/output.hpp"
#include "runtime/outline/file_outline.hpp"

namespace tailrace::impl {

// Says why a path cannot be inspected.
class Unreadable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns what is in one HDF5 file, striped or not. Throws Unreadable.
OrderedJson hdf5_contents(const std::string& path);

// ---- parts of it, for series of files

bool is_plain(const Outline& file);

// A mesh, a component of a vector, or a record of particles: the dataset, or the group of a constant.
struct OutlinePart {
  std::string name;             // "E/x" of a component
  const OutlineObject* part;    // borrowed from the outline
  const OutlineObject* record;  // that it belongs to: itself, or the vector
};
// Returns the meshes and the records of particles in the group of an iteration, without coordinates.
std::vector<OutlinePart> parts_of(const OutlineObject& iteration);

OrderedJson json_of(const OutlineValue& value);
// Returns an attribute as JSON; null if there is none.
OrderedJson attribute_of(const OutlineObject& of, const std::string& name);
// Returns an attribute that is one number; none if it is not.
std::optional<double> number_of(const OutlineObject& of, const std::string& name);
std::string type_of(const OutlineObject& part);
// Returns the extents of a dataset; those that a constant says it has.
std::vector<uint64_t> shape_of(const OutlineObject& part);

// Returns the number in the name of a file of the format plain, that behind "_It" or the last one, and the name with
// "{iteration}" in its place.
struct NumberedName {
  std::string pattern;
  int64_t number = 0;
};
std::optional<NumberedName> numbered_name(std::string_view name);
// Returns the number of an iteration's group; none if the name is not one.
std::optional<int64_t> iteration_number(std::string_view name);

// Returns a path as people read it: without ".", doubled slashes and a slash at the end.
std::string plain_path(std::string_view path);

}  // namespace tailrace::impl
