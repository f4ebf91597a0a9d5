#include <algorithm>
#include <cmath>

#include "lab/mpiio/patterns.hpp"

namespace bench::mpiio {
namespace {

// Returns how many tiles are beside each other: as many as below one another, or more.
uint64_t columns_of(uint64_t ranks) {
  uint64_t columns = ranks;
  for (uint64_t rows = 1; rows * rows <= ranks; ++rows) {
    if (ranks % rows == 0) columns = ranks / rows;
  }
  return columns;
}

}  // namespace

Access make_tile(const Shape& shape, const Place& place) {
  Access access;
  const uint64_t columns = columns_of(place.ranks);
  const uint64_t rows = place.ranks / columns;
  const uint64_t elements = std::max<uint64_t>(1, shape.bytes / place.ranks / shape.piece);
  const auto width = static_cast<uint64_t>(std::sqrt(static_cast<double>(elements)));
  const uint64_t height = elements / width;
  const uint64_t x = place.rank % columns * width;
  const uint64_t y = place.rank / columns * height;
  const Type element = contiguous(static_cast<int>(shape.piece), MPI_BYTE);
  access.file = subarray({static_cast<int>(rows * height), static_cast<int>(columns * width)},
                         {static_cast<int>(height), static_cast<int>(width)},
                         {static_cast<int>(y), static_cast<int>(x)}, element.get());
  access.memory = contiguous(1, element.get());
  access.count = static_cast<int>(width * height);
  access.call_bytes = access.memory_bytes = width * height * shape.piece;
  access.region = access.call_bytes * place.ranks;
  for (uint64_t row = 0; row < height; ++row) {
    access.pieces.push_back(
        {((y + row) * columns * width + x) * shape.piece, row * width * shape.piece, width * shape.piece});
  }
  return access;
}

}  // namespace bench::mpiio
