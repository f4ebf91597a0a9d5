// StoredAs: the dataset of the iteration's file in which a block is stored, and its place there. Pure.
//
// With a file per process, each block is a dataset of its own. With a file per node or job, blocks of a decomposed
// array form one dataset of the whole's shape. With a file per node these are the blocks that are contiguous in the
// whole (slabs): of other blocks each node's file would contain a sparse comb of the whole. With a file per job they
// are all blocks except those in too many pieces. All other blocks become datasets of their own, named after the
// client. In files of the plain format, a variable names its dataset itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/format.hpp"
#include "model/config/settings.hpp"

namespace tailrace::impl {

// The most pieces of a block in a shared dataset. Each takes some 500 bytes until it is written.
inline constexpr uint64_t kMostRuns = uint64_t{1} << 18;

struct StoredAs {
  // Name of the dataset below `root`: "T"; of a vector's component "E/x"; of particles "electrons/position/x".
  std::string name;
  const char* root = "meshes";    // group of the iteration; "": `name` begins at the root of the file
  const Layout* block = nullptr;  // of the block; borrowed
  bool shared = false;            // it also contains other clients' blocks, and has the whole array's shape

  const std::vector<uint64_t>& shape() const { return shared ? block->global_shape : block->shape; }
  // Returns where the dataset begins in the whole array.
  std::vector<uint64_t> offset() const;
  uint64_t bytes() const;
};

// A dataset that has at least one block.
struct StoredDataset {
  std::vector<uint64_t> shape;
  Extent extent;                              // of a dataset that is not in chunks
  std::vector<PlacedChunk> chunks;            // all chunks of a block
  std::vector<std::vector<uint64_t>> blocks;  // of a shared dataset: the places of the blocks that came, sorted
};

// `layout` outlives the result.
StoredAs stored_as(const Variable& variable, const Layout& layout, FilePer file_per, int client);

// Returns a block's place in the whole: its offset, followed by its shape.
std::vector<uint64_t> place_of(const Layout& block);

// Returns how many contiguous runs of bytes a block has in its whole array, if both are row-major.
uint64_t runs_in_whole(const Layout& block);

// Returns the bytes of the whole array up to the end of the block, which has elements.
uint64_t end_in_whole(const Layout& block);

// Returns where the bytes of a block lie, in their order, if its dataset begins at `begin`.
std::vector<Extent> extents_of(const Layout& block, const StoredAs& as, uint64_t begin);

}  // namespace tailrace::impl
