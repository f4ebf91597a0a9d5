#include <algorithm>
#include <cmath>

#include "lab/mpiio/boxes.hpp"
#include "lab/mpiio/patterns.hpp"

namespace bench::mpiio {
namespace {

constexpr uint64_t kValuesOfPoint = 5;
constexpr uint64_t kGhostsOfCell = 2;

uint64_t edge_of(const Shape& shape) {
  if (shape.points > 0) return shape.points;
  return static_cast<uint64_t>(std::cbrt(static_cast<double>(shape.bytes) / (kValuesOfPoint * sizeof(double))));
}

uint64_t root_of(uint64_t ranks) {
  const auto root = static_cast<uint64_t>(std::lround(std::sqrt(static_cast<double>(ranks))));
  if (root * root != ranks) throw UsageError("bt: found " + std::to_string(ranks) + " ranks, expected a square");
  return root;
}

// The range of the cells with one coordinate; the first ones are one point larger.
struct Range {
  uint64_t start;
  uint64_t size;
};

Range range_of(uint64_t edge, uint64_t cells, uint64_t coordinate) {
  const uint64_t longer = edge % cells;
  return {coordinate * (edge / cells) + std::min(coordinate, longer), edge / cells + (coordinate < longer ? 1 : 0)};
}

// Returns a rank's cell in one layer: from layer to layer it goes one cell along x, and one back along y.
Box cell_of(uint64_t edge, uint64_t cells, const Place& place, uint64_t layer) {
  const Range z = range_of(edge, cells, layer);
  const Range y = range_of(edge, cells, (place.rank / cells + cells - layer) % cells);
  const Range x = range_of(edge, cells, (place.rank + layer) % cells);
  return {{z.start, y.start, x.start}, {z.size, y.size, x.size}};
}

}  // namespace

Access make_bt(const Shape& shape, const Place& place) {
  Access access;
  const uint64_t edge = edge_of(shape);
  const uint64_t cells = root_of(place.ranks);
  if (edge < cells) throw UsageError("bt: found fewer points than cells");
  const uint64_t most = range_of(edge, cells, 0).size + 2 * kGhostsOfCell;
  const Cube cube{edge, kValuesOfPoint, kGhostsOfCell, {most, most, most}};
  std::vector<Type> in_file;
  std::vector<Type> in_memory;
  std::vector<MPI_Aint> places;
  for (uint64_t layer = 0; layer < cells; ++layer) {
    const Box cell = cell_of(edge, cells, place, layer);
    in_file.push_back(file_type(cube, cell));
    in_memory.push_back(memory_type(cube, cell));
    places.push_back(static_cast<MPI_Aint>(layer * memory_bytes(cube)));
    add_rows(cube, cell, layer * memory_bytes(cube), access.pieces);
    access.call_bytes += cell.size[0] * cell.size[1] * cell.size[2] * kValuesOfPoint * sizeof(double);
  }
  access.etype = MPI_DOUBLE;
  access.file = joined(in_file, std::vector<MPI_Aint>(cells, 0));
  access.memory = joined(in_memory, places);
  access.memory_bytes = cells * memory_bytes(cube);
  access.region = edge * edge * edge * kValuesOfPoint * sizeof(double);
  return access;
}

}  // namespace bench::mpiio
