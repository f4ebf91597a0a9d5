// Compares a scenario's published file with its model.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "hdf5_file.hpp"
#include "scenario.hpp"

namespace test {

// Returns the difference in the file of that iteration; "" if it contains exactly its blocks.
inline std::string wrong_in(const std::filesystem::path& path, const Scenario& scenario, int64_t iteration) {
  const std::string name = path.filename();
  const Hdf5File file(path);
  if (!file.opened()) return name + " cannot be opened";
  std::vector<std::string> meshes;
  for (size_t variable = 0; variable < scenario.words.size(); ++variable) meshes.push_back(scenario.name(variable));
  if (file.variables(iteration) != meshes) return name + " holds other variables";
  if (file.time(iteration) != scenario.time(iteration)) return name + " is of another time";
  for (size_t variable = 0; variable < scenario.variables(); ++variable) {
    const std::string of = scenario.name(variable);
    const uint64_t words = scenario.words_of(iteration, variable);
    const std::vector<std::byte> bytes = file.bytes(iteration, of);
    if (bytes.size() != words * 8 || file.shape(iteration, of) != std::vector<hsize_t>{words}) {
      return of + " in " + name + " is of another size";
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
