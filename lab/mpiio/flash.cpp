#include <algorithm>

#include "lab/mpiio/boxes.hpp"
#include "lab/mpiio/patterns.hpp"

namespace bench::mpiio {
namespace {

constexpr int kVariables = 24;
constexpr uint64_t kCells = 8;
constexpr uint64_t kGuards = 4;
constexpr uint64_t kInMemory = kCells + 2 * kGuards;
constexpr uint64_t kBlock = kCells * kCells * kCells * sizeof(double);
constexpr uint64_t kMemory = kInMemory * kInMemory * kInMemory * sizeof(double);

// The rows of a block: its cells are contiguous in the file, and have guards around them in memory.
void add_block(uint64_t file, uint64_t memory, std::vector<Piece>& pieces) {
  for (uint64_t row = 0; row < kCells * kCells; ++row) {
    const uint64_t z = row / kCells + kGuards;
    const uint64_t y = row % kCells + kGuards;
    const uint64_t at = ((z * kInMemory + y) * kInMemory + kGuards) * sizeof(double);
    pieces.push_back({file + row * kCells * sizeof(double), memory + at, kCells * sizeof(double)});
  }
}

}  // namespace

Access make_flash(const Shape& shape, const Place& place) {
  Access access;
  const uint64_t blocks = std::max<uint64_t>(1, shape.bytes / place.ranks / kVariables / kBlock);
  const uint64_t variable = place.ranks * blocks * kBlock;
  const auto part = static_cast<int>(blocks * kBlock / sizeof(double));
  const int number = static_cast<int>(blocks);
  constexpr int kSize = kInMemory;
  constexpr int kPart = kCells;
  constexpr int kStart = kGuards;
  access.etype = MPI_DOUBLE;
  access.file = subarray({kVariables, part * static_cast<int>(place.ranks)}, {kVariables, part},
                         {0, part * static_cast<int>(place.rank)}, MPI_DOUBLE);
  access.calls = kVariables;
  access.memory =
      subarray({number, kSize, kSize, kSize}, {number, kPart, kPart, kPart}, {0, kStart, kStart, kStart}, MPI_DOUBLE);
  access.memory_step = blocks * kMemory;
  access.call_bytes = blocks * kBlock;
  access.memory_bytes = kVariables * access.memory_step;
  access.region = kVariables * variable;
  for (uint64_t of = 0; of < kVariables; ++of) {
    for (uint64_t block = 0; block < blocks; ++block) {
      add_block(of * variable + (place.rank * blocks + block) * kBlock, of * access.memory_step + block * kMemory,
                access.pieces);
    }
  }
  return access;
}

}  // namespace bench::mpiio
