#include "damaris/output/stored_mesh.hpp"

#include <map>
#include <set>
#include <utility>

#include "damaris/output/identifier.hpp"

namespace tailrace::damaris {
namespace {

// Returns tailrace's word for the type of a mesh; nothing if its files have no such meshes.
const char* kind_of(const Mesh& mesh) {
  if (mesh.type == "rectilinear") return "rectilinear";
  if (mesh.type == "curvilinear") return "curvilinear";
  return mesh.type == "point" ? "points" : nullptr;
}

}  // namespace

std::vector<StoredMesh> meshes_of(const Model& model, const std::vector<StoredBlock>& blocks) {
  std::map<std::pair<size_t, int64_t>, const StoredBlock*> by_variable;  // and domain
  for (const StoredBlock& block : blocks) by_variable[{block.variable, block.block}] = &block;
  std::set<std::string> taken;
  std::vector<StoredMesh> meshes;
  for (size_t number = 0; number < model.meshes.size(); ++number) {
    const Mesh& mesh = model.meshes[number];
    const char* const kind = kind_of(mesh);
    if (kind == nullptr) continue;
    for (int64_t domain = 0; domain < model.architecture.domains; ++domain) {
      StoredMesh stored{identifier(mesh.name), kind, {}, {}};
      if (model.architecture.domains > 1) stored.name += "_b" + std::to_string(domain);
      while (taken.contains(stored.name)) stored.name += "_";
      for (const Coordinate& one : mesh.coordinates) {
        const std::optional<size_t> variable = model.coordinate_of(mesh, one);
        const auto found = variable ? by_variable.find({*variable, domain}) : by_variable.end();
        if (found != by_variable.end()) stored.coordinates.push_back(found->second->name);
      }
      for (const StoredBlock& block : blocks) {
        if (block.block == domain && model.mesh_of(model.variables[block.variable]) == number) {
          stored.variables.push_back(block.name);
        }
      }
      const size_t count = stored.coordinates.size();
      const bool whole = count == mesh.coordinates.size() && count <= 3 && count >= (mesh.type == "point" ? 1U : 2U);
      if (!whole || stored.variables.empty()) continue;
      taken.insert(stored.name);
      meshes.push_back(std::move(stored));
    }
  }
  return meshes;
}

}  // namespace tailrace::damaris
