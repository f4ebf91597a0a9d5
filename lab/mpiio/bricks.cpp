#include <algorithm>
#include <cmath>
#include <random>

#include "lab/mpiio/boxes.hpp"
#include "lab/mpiio/patterns.hpp"

namespace bench::mpiio {
namespace {

constexpr uint64_t kGhostsOfBrick = 1;

// Cuts a box across a random dimension, in proportion to the ranks of both parts, with a random deviation; takes the
// part of `rank`, and goes on until it is alone. All ranks roll the same dice as long as they share a box.
Box brick_of(Box box, Place place, uint64_t seed) {
  while (place.ranks > 1) {
    std::mt19937_64 dice(seed);
    size_t across = dice() % 3;
    const size_t longest = static_cast<size_t>(std::max_element(box.size.begin(), box.size.end()) - box.size.begin());
    if (box.size[across] < place.ranks) across = longest;
    const uint64_t size = box.size[across];
    if (size < 2) throw UsageError("bricks: found fewer points than ranks");
    const uint64_t before = 1 + dice() % (place.ranks - 1);
    const double share = static_cast<double>(before) / static_cast<double>(place.ranks);
    const double deviation = 0.8 + 0.4 * static_cast<double>(dice() % 1000) / 1000;
    const auto cut =
        std::clamp<uint64_t>(static_cast<uint64_t>(static_cast<double>(size) * share * deviation), 1, size - 1);
    const bool first = place.rank < before;
    if (!first) box.start[across] += cut;
    box.size[across] = first ? cut : size - cut;
    place = first ? Place{place.rank, before} : Place{place.rank - before, place.ranks - before};
    seed = 2 * seed + (first ? 0 : 1);
  }
  return box;
}

}  // namespace

Access make_bricks(const Shape& shape, const Place& place) {
  Access access;
  const auto edge = static_cast<uint64_t>(std::cbrt(static_cast<double>(shape.bytes / sizeof(double))));
  const Box brick = brick_of({{0, 0, 0}, {edge, edge, edge}}, place, shape.seed);
  Cube cube{edge, 1, kGhostsOfBrick, {}};
  for (size_t i = 0; i < 3; ++i) cube.memory_size[i] = brick.size[i] + 2 * kGhostsOfBrick;
  access.etype = MPI_DOUBLE;
  access.file = file_type(cube, brick);
  access.memory = memory_type(cube, brick);
  access.call_bytes = brick.size[0] * brick.size[1] * brick.size[2] * sizeof(double);
  access.memory_bytes = memory_bytes(cube);
  access.region = edge * edge * edge * sizeof(double);
  add_rows(cube, brick, 0, access.pieces);
  return access;
}

}  // namespace bench::mpiio
