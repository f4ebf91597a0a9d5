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
  std::vector<std::string> variables;
  for (size_t variable = 0; variable < scenario.words.size(); ++variable)
    variables.push_back(Scenario::name(variable));
  if (file.variables(iteration) != variables) return name + " holds other variables";
  for (size_t variable = 0; variable < scenario.words.size(); ++variable) {
    const std::vector<std::byte> bytes = file.bytes(iteration, variables[variable]);
    if (bytes.size() != scenario.words[variable] * 8)
      return variables[variable] + " in " + name + " is of another size";
    std::vector<uint64_t> block(scenario.words[variable]);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(block.data()));
    const uint64_t wrong = scenario.first_wrong(iteration, variable, block.data());
    if (wrong != block.size()) {
      return "word " + std::to_string(wrong) + " of " + variables[variable] + " in " + name + " is wrong";
    }
  }
  return {};
}

}  // namespace test
