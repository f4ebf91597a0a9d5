#include "damaris/xml/model.hpp"

#include <algorithm>

namespace tailrace::damaris {
namespace {

template <class T>
std::optional<size_t> find(const std::vector<T>& things, const std::string& name) {
  const auto found = std::find_if(things.begin(), things.end(), [&](const T& one) { return one.name == name; });
  return found == things.end() ? std::nullopt : std::optional<size_t>(found - things.begin());
}

}  // namespace

std::optional<size_t> Model::find_parameter(const std::string& parameter) const {
  return find(parameters, parameter);
}
std::optional<size_t> Model::find_variable(const std::string& variable) const { return find(variables, variable); }

std::optional<size_t> Model::mesh_of(const Variable& variable) const {
  if (variable.mesh.empty()) return std::nullopt;
  if (const std::optional<size_t> found = find(meshes, variable.mesh)) return found;
  const auto inner = std::find_if(meshes.begin(), meshes.end(),
                                  [&](const Mesh& mesh) { return mesh.name.ends_with("/" + variable.mesh); });
  return inner == meshes.end() ? std::nullopt : std::optional<size_t>(inner - meshes.begin());
}

std::optional<size_t> Model::coordinate_of(const Mesh& mesh, const Coordinate& coordinate) const {
  if (const std::optional<size_t> found = find(variables, coordinate.variable)) return found;
  const size_t groups = mesh.name.rfind('/');
  if (groups == std::string::npos) return std::nullopt;
  return find(variables, mesh.name.substr(0, groups + 1) + coordinate.variable);
}

size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::int8:
    case ElementType::text: return 1;
    case ElementType::int16: return 2;
    case ElementType::int32:
    case ElementType::float32: return 4;
    case ElementType::int64:
    case ElementType::float64: return 8;
  }
  return 0;
}

}  // namespace tailrace::damaris
