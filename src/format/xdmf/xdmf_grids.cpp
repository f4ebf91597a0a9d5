#include "format/xdmf/xdmf_grids.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/names/name_template.hpp"

namespace tailrace::impl {
namespace {

// The name of a variable as it is shown, and what its dataset's path has behind that: the client and the block.
struct Names {
  std::string shown;
  std::string whose;
};

// "fields/T/P{client}/B1" is "fields/T" of "P3/B1"; a path that begins with the client is all shown.
Names names_of(const std::string& dataset, int client) {
  const size_t field = dataset.find(kClientField);
  const size_t slash = field == std::string::npos ? field : dataset.rfind('/', field);
  if (slash == std::string::npos) return {with_number(dataset, kClientField, client), ""};
  return {dataset.substr(0, slash), with_number(dataset.substr(slash + 1), kClientField, client)};
}

uint64_t product(const std::vector<uint64_t>& extents) {
  uint64_t result = 1;
  for (const uint64_t extent : extents) result *= extent;
  return result;
}

std::vector<uint64_t> cells_between(std::vector<uint64_t> nodes) {
  for (uint64_t& extent : nodes) extent -= extent > 0 ? 1 : 0;
  return nodes;
}

// Returns the nodes of a mesh along each axis, slowest first; none if the coordinates do not fit together. In memory,
// x varies fastest.
std::vector<uint64_t> nodes_of(XdmfMesh::Kind kind, const std::vector<XdmfData>& coordinates) {
  const size_t count = coordinates.size();
  const std::vector<uint64_t>& first = coordinates[0].shape;
  if (kind == XdmfMesh::Kind::rectilinear) {
    std::vector<uint64_t> nodes;
    for (const XdmfData& one : coordinates) {
      if (one.shape.size() != 1) return {};
      nodes.insert(nodes.begin(), one.shape[0]);
    }
    return count == 2 || count == 3 ? nodes : std::vector<uint64_t>();
  }
  const bool alike =
      std::all_of(coordinates.begin(), coordinates.end(), [&](const XdmfData& one) { return one.shape == first; });
  const bool points = kind == XdmfMesh::Kind::points;
  const bool fits = points ? first.size() == 1 : first.size() == 2 || first.size() == 3;
  return alike && fits && count <= 3 ? first : std::vector<uint64_t>();
}

// Returns true if the values are those of these places: in a rectilinear mesh, the axes of the dataset may be named
// in either order, as Damaris' programs do.
bool has_shape(const std::vector<uint64_t>& shape, const std::vector<uint64_t>& places, bool either) {
  if (shape == places) return true;
  return either && std::equal(shape.rbegin(), shape.rend(), places.begin(), places.end());
}

XdmfGrid::Kind grid_kind(XdmfMesh::Kind kind) {
  switch (kind) {
    case XdmfMesh::Kind::rectilinear: return XdmfGrid::Kind::rectilinear;
    case XdmfMesh::Kind::curvilinear: return XdmfGrid::Kind::curvilinear;
    case XdmfMesh::Kind::points: return XdmfGrid::Kind::points;
  }
  return XdmfGrid::Kind::uniform;
}

}  // namespace

// The grids of an iteration, in the order of their keys.
struct XdmfGrids::Sorted {
  std::map<std::string, XdmfGrid> grids;
  std::vector<XdmfLeftOut> left_out;

  void leave_out(const std::string& name, std::string why) { left_out.push_back({name, std::move(why)}); }
};

XdmfGrids::XdmfGrids(const Declarations& declared, const std::vector<XdmfMesh>& meshes) : declared_(declared) {
  for (const XdmfMesh& mesh : meshes) {
    for (const uint32_t one : mesh.variables) mesh_of_[one] = &mesh;
    for (const uint32_t one : mesh.coordinates) are_coordinates_.insert(one);
  }
}

void XdmfGrids::note(const std::string& file, const std::vector<XdmfDataset>& datasets) {
  for (const XdmfDataset& one : datasets) {
    if (are_coordinates_.contains(one.variable))
      coordinates_[one.name] = {file, one.name, one.block->type, one.shape};
  }
}

XdmfIteration XdmfGrids::describe(int64_t number, double time, const std::string& file,
                                  const std::vector<XdmfDataset>& datasets) {
  note(file, datasets);
  Sorted sorted;
  for (const XdmfDataset& one : datasets) {
    const Variable& variable = declared_.variables[one.variable];
    const auto mesh = mesh_of_.find(one.variable);
    const bool is_coordinate = mesh == mesh_of_.end() && are_coordinates_.contains(one.variable);
    if (variable.xdmf == XdmfCenter::off || is_coordinate || product(one.shape) == 0) continue;
    const auto [shown, whose] = names_of(variable.dataset, one.client);
    const XdmfField field{shown, variable.xdmf == XdmfCenter::cell, {file, one.name, one.block->type, one.shape}};
    if (!is_in_xdmf(one.block->type)) {
      sorted.leave_out(one.name, fmt::format("XDMF has no {}", name_of(one.block->type)));
    } else if (mesh != mesh_of_.end()) {
      add_to_mesh(one, whose, field, *mesh->second, sorted);
    } else {
      add_to_uniform(one, whose, field, sorted);
    }
  }
  XdmfIteration iteration{number, time, {}, std::move(sorted.left_out)};
  for (auto& [key, grid] : sorted.grids) iteration.grids.push_back(std::move(grid));
  return iteration;
}

// Which values are of nodes and which of cells, their number says.
void XdmfGrids::add_to_mesh(const XdmfDataset& dataset, const std::string& whose, const XdmfField& field,
                            const XdmfMesh& mesh, Sorted& to) const {
  XdmfGrid grid{mesh.name + (whose.empty() ? "" : " " + whose), grid_kind(mesh.kind), {}, {}, {}, {}, {}};
  for (const uint32_t one : mesh.coordinates) {
    const std::string name = with_number(declared_.variables[one].dataset, kClientField, dataset.client);
    const auto found = coordinates_.find(name);
    if (found == coordinates_.end()) {
      return to.leave_out(dataset.name, fmt::format("the coordinate '{}' of its mesh was not written", name));
    }
    grid.coordinates.push_back(found->second);
  }
  grid.nodes = nodes_of(mesh.kind, grid.coordinates);
  const bool real = std::all_of(grid.coordinates.begin(), grid.coordinates.end(),
                                [](const XdmfData& one) { return is_in_xdmf(one.type); });
  if (grid.nodes.empty() || !real) {
    return to.leave_out(dataset.name, fmt::format("the coordinates of its mesh '{}' do not fit together", mesh.name));
  }
  const bool either = mesh.kind == XdmfMesh::Kind::rectilinear;
  XdmfField placed = field;
  placed.of_cells = !has_shape(dataset.shape, grid.nodes, either);
  const bool has_cells = mesh.kind != XdmfMesh::Kind::points;
  if (placed.of_cells && !(has_cells && has_shape(dataset.shape, cells_between(grid.nodes), either))) {
    return to.leave_out(dataset.name, fmt::format("found shape [{}], expected a value for each node or cell of its "
                                                  "mesh of [{}] nodes",
                                                  fmt::join(dataset.shape, ", "), fmt::join(grid.nodes, ", ")));
  }
  // The values follow one another as the nodes do; readers look at their number alone.
  to.grids.try_emplace(grid.name, std::move(grid)).first->second.fields.push_back(std::move(placed));
}

void XdmfGrids::add_to_uniform(const XdmfDataset& dataset, const std::string& whose, const XdmfField& field,
                               Sorted& to) {
  const size_t rank = dataset.shape.size();
  if (rank != 2 && rank != 3) {
    return to.leave_out(dataset.name,
                        fmt::format("it has no mesh and {} dimension{}, expected 2 or 3", rank, rank > 1 ? "s" : ""));
  }
  const Layout& layout = *dataset.block;
  XdmfGrid grid;
  for (size_t axis = 0; axis < rank; ++axis) {
    const double spacing = axis < layout.spacing.size() ? layout.spacing[axis] : 1;
    const double begin = axis < layout.origin.size() ? layout.origin[axis] : 0;
    const double before = dataset.shared ? 0 : static_cast<double>(layout.offset[axis]);
    grid.spacing.push_back(spacing);
    grid.origin.push_back(begin + before * spacing);
    grid.nodes.push_back(dataset.shape[axis] + (field.of_cells ? 1 : 0));
  }
  const std::string shape = fmt::format("{}", fmt::join(grid.nodes, "x"));
  grid.name = shape + (whose.empty() ? "" : " " + whose);
  const std::string key =
      fmt::format("{} at {} by {}", grid.name, fmt::join(grid.origin, " "), fmt::join(grid.spacing, " "));
  to.grids.try_emplace(key, std::move(grid)).first->second.fields.push_back(field);
}

}  // namespace tailrace::impl
