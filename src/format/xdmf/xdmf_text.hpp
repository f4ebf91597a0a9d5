// The text of an XDMF file: grids whose values and coordinates are datasets of HDF5 files beside it. Pure.
//
// ParaView and VisIt open such a file. An iteration is a spatial collection of grids; the first axis of a grid is the
// slowest one, as in the datasets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/variable.hpp"

namespace tailrace::impl {

// A dataset, as XDMF refers to it.
struct XdmfData {
  std::string file;  // its name, without a directory
  std::string dataset;
  ElementType type = ElementType::float64;
  std::vector<uint64_t> shape;
};

struct XdmfField {
  std::string name;
  bool of_cells = false;
  XdmfData data;
};

struct XdmfGrid {
  enum class Kind { uniform, rectilinear, curvilinear, points };

  std::string name;
  Kind kind = Kind::uniform;
  std::vector<uint64_t> nodes;        // how many there are along each axis, slowest first
  std::vector<double> origin;         // of a uniform grid, slowest axis first
  std::vector<double> spacing;        // likewise
  std::vector<XdmfData> coordinates;  // of the others: x, y, z
  std::vector<XdmfField> fields;
};

// Why something of the iteration is not in the file.
struct XdmfLeftOut {
  std::string name;
  std::string why;
};

struct XdmfIteration {
  int64_t number = 0;
  double time = 0;
  std::vector<XdmfGrid> grids;
  std::vector<XdmfLeftOut> left_out;
};

// Returns true if XDMF has elements of this type.
bool is_in_xdmf(ElementType type);

std::string xdmf_text(const XdmfIteration& iteration);

}  // namespace tailrace::impl
