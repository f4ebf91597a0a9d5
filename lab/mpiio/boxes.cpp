#include "lab/mpiio/boxes.hpp"

namespace bench::mpiio {
namespace {

std::vector<int> as_sizes(const Three& three, uint64_t values) {
  std::vector<int> sizes;
  for (const uint64_t one : three) sizes.push_back(static_cast<int>(one));
  sizes.push_back(static_cast<int>(values));
  return sizes;
}

}  // namespace

Type file_type(const Cube& cube, const Box& box) {
  return subarray(as_sizes({cube.edge, cube.edge, cube.edge}, cube.values), as_sizes(box.size, cube.values),
                  as_sizes(box.start, 0), MPI_DOUBLE);
}

Type memory_type(const Cube& cube, const Box& box) {
  return subarray(as_sizes(cube.memory_size, cube.values), as_sizes(box.size, cube.values),
                  as_sizes({cube.ghosts, cube.ghosts, cube.ghosts}, 0), MPI_DOUBLE);
}

uint64_t memory_bytes(const Cube& cube) {
  return cube.memory_size[0] * cube.memory_size[1] * cube.memory_size[2] * cube.values * sizeof(double);
}

void add_rows(const Cube& cube, const Box& box, uint64_t memory, std::vector<Piece>& pieces) {
  const uint64_t element = cube.values * sizeof(double);
  for (uint64_t z = 0; z < box.size[0]; ++z) {
    for (uint64_t y = 0; y < box.size[1]; ++y) {
      const uint64_t file = ((box.start[0] + z) * cube.edge + box.start[1] + y) * cube.edge + box.start[2];
      const uint64_t row = ((cube.ghosts + z) * cube.memory_size[1] + cube.ghosts + y) * cube.memory_size[2];
      pieces.push_back({file * element, memory + (row + cube.ghosts) * element, box.size[2] * element});
    }
  }
}

}  // namespace bench::mpiio
