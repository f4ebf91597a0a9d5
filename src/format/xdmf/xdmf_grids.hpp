// XdmfGrids: puts the datasets of an iteration together to grids of XDMF. Pure.
//
// Variables of one mesh and client are on one grid, and so are those without a mesh that have the same shape and
// place. Coordinates may have been written in an earlier iteration: the grids of later ones refer to its file.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "format/xdmf/xdmf_text.hpp"
#include "model/declarations.hpp"

namespace tailrace::impl {

// A dataset of an iteration.
struct XdmfDataset {
  uint32_t variable = 0;
  int client = 0;       // whose it is
  bool shared = false;  // it is of all clients
  std::string name;     // its path in the file
  std::vector<uint64_t> shape;
  std::shared_ptr<const Layout> block;  // the layout of a block in it
};

class XdmfGrids {
 public:
  // `config` outlives this.
  XdmfGrids(const Declarations& declared, const std::vector<XdmfMesh>& meshes);

  // Returns the grids of the iteration whose file has this name, and remembers where its coordinates are. Iterations
  // come in the order in which they end.
  XdmfIteration describe(int64_t number, double time, const std::string& file,
                         const std::vector<XdmfDataset>& datasets);
  // Only remembers.
  void note(const std::string& file, const std::vector<XdmfDataset>& datasets);

 private:
  struct Sorted;
  void add_to_mesh(const XdmfDataset& dataset, const std::string& whose, const XdmfField& field, const XdmfMesh& mesh,
                   Sorted& to) const;
  static void add_to_uniform(const XdmfDataset& dataset, const std::string& whose, const XdmfField& field,
                             Sorted& to);

  const Declarations& declared_;
  std::map<uint32_t, const XdmfMesh*> mesh_of_;  // by variable
  std::set<uint32_t> are_coordinates_;           // variables
  std::map<std::string, XdmfData> coordinates_;  // the latest ones, by dataset
};

}  // namespace tailrace::impl
