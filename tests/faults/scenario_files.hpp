// Compares a scenario's published file with its model.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "hdf5_file.hpp"
#include "scenario.hpp"

namespace test {

// Returns true if the mesh has the coordinates of its first axis, if it is to have any.
inline bool has_coordinates(const Hdf5File& file, const Scenario& scenario, int64_t iteration, size_t mesh) {
  const std::vector<double> found = file.coordinates(iteration, scenario.name(mesh));
  std::vector<double> expected(scenario.dimension_scales ? scenario.words_of(iteration, mesh) : 0);
  for (uint64_t i = 0; i < expected.size(); ++i) expected[i] = scenario.coordinate(i);
  return found == expected;
}

// Returns the difference in the file of that iteration; "" if it contains exactly its blocks.
inline std::string wrong_in(const std::filesystem::path& path, const Scenario& scenario, int64_t iteration) {
  const std::string name = path.filename();
  const Hdf5File file(path);
  if (!file.opened()) return name + " cannot be opened";
  std::vector<std::string> meshes = {"E", "s"};
  for (size_t variable = 2; variable < scenario.words.size(); ++variable) meshes.push_back(scenario.name(variable));
  if (file.variables(iteration) != meshes) return name + " holds other variables";
  if (file.real(iteration, "", "time") != scenario.time(iteration)) return name + " is of another time";
  for (const char* of : {"", "ions/weighting", "E/y"}) {
    if (file.real(iteration, of, "residual") != scenario.residual(iteration)) return name + " has other attributes";
  }
  for (size_t variable = 0; variable < scenario.variables(); ++variable) {
    const std::string of = scenario.name(variable);
    const uint64_t words = scenario.words_of(iteration, variable);
    const std::vector<std::byte> bytes = file.bytes(iteration, of);
    const std::vector<uint64_t> shape = scenario.shape(iteration, variable);
    if (bytes.size() != words * 8 || file.shape(iteration, of) != std::vector<hsize_t>(shape.begin(), shape.end())) {
      return of + " in " + name + " is of another size";
    }
    if (file.type(iteration, of) != scenario.element(variable).type)
      return of + " in " + name + " is of another type";
    if (scenario.is_mesh(variable) && !has_coordinates(file, scenario, iteration, variable)) {
      return of + " in " + name + " has other coordinates";
    }
    std::vector<uint64_t> block(words);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(block.data()));
    const uint64_t wrong = scenario.first_wrong(iteration, variable, block.data());
    if (wrong != block.size()) {
      return "word " + std::to_string(wrong) + " of " + of + " in " + name + " is wrong";
    }
  }
  return {};
}

}  // namespace test
