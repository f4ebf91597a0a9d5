// The meshes of a store, for its XDMF files. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "damaris/output/configuration.hpp"
#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

// A mesh in one domain: names of tailrace's variables.
struct StoredMesh {
  std::string name;
  std::string kind;  // in tailrace's configuration
  std::vector<std::string> coordinates;
  std::vector<std::string> variables;
};

// Returns the meshes that variables among the blocks are on, and whose coordinates are among them, too.
std::vector<StoredMesh> meshes_of(const Model& model, const std::vector<StoredBlock>& blocks);

}  // namespace tailrace::damaris
