#include "config/config_xdmf.hpp"

#include <fmt/format.h>

#include "config/config_arrays.hpp"
#include "config/config_variables.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t most_meshes = 16000;

// Returns true if files of this kind have XDMF files beside them.
bool has_files(const YamlValue& value, const Config& config) {
  if (config.format.kind == FormatKind::plain) return true;
  value.fault_at_key("this key with format.kind: hdf5", "no such key, or format.kind: plain",
                     "'tailrace open' writes XDMF files for the kind hdf5");
  return false;
}

XdmfMesh read_mesh(const YamlValue& entry, const Config& config) {
  entry.only({"kind", "coordinates", "variables"});
  XdmfMesh mesh{entry.key()};
  (void)entry.require("kind", "rectilinear, curvilinear or points");
  entry.choose("kind", {"rectilinear", "curvilinear", "points"}, mesh.kind);
  if (const auto coordinates = entry.require("coordinates", "the variables of x, y and z")) {
    mesh.coordinates = read_variable_names(*coordinates, config, "");
    const size_t count = mesh.coordinates.size();
    const size_t least = mesh.kind == XdmfMesh::Kind::points ? 1 : 2;
    if (coordinates->is_right() && (count < least || count > 3)) {
      coordinates->fault(fmt::format("a list of {}", count), fmt::format("{} to 3 variables", least));
    }
  }
  const auto variables = entry.require("variables", "the variables on this mesh");
  if (variables) mesh.variables = read_variable_names(*variables, config, "");
  return mesh;
}

}  // namespace

void read_xdmf(const YamlValue& format, Config& config) {
  const auto xdmf = format.find("xdmf");
  if (!xdmf) return;
  format.choose("xdmf", {"none", "first", "every"}, config.format.xdmf);
  if (!has_files(*xdmf, config) || !config.storage.stripes.on() || !xdmf->trusts({"storage"})) return;
  xdmf->fault_at_key("XDMF files for striped files", "no such key, or no storage.stripe");
}

void read_meshes(const YamlValue& format, Config& config) {
  const auto meshes = format.find("meshes");
  if (!meshes) return;
  has_files(*meshes, config);
  constexpr std::string_view expected = "meshes, such as {m: {kind: points, coordinates: [x, y], variables: [T]}}";
  std::vector<bool> taken(config.variables.size(), false);
  for (const YamlValue& entry : read_named(*meshes, expected, most_meshes)) {
    config.format.meshes.push_back(read_mesh(entry, config));
    for (const uint32_t one : config.format.meshes.back().variables) {
      if (taken[one]) entry.fault(in_quotes(config.variables[one].name) + " on two meshes", "one mesh for each");
      taken[one] = true;
    }
  }
}

XdmfCenter read_xdmf_center(const YamlValue& value, const Config& config) {
  const auto center = static_cast<XdmfCenter>(value.choice({"node", "cell", "off"}));
  has_files(value, config);
  return center;
}

}  // namespace tailrace::impl
