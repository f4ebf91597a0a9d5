// As what a block is stored: in which dataset of its iteration's file, and where in it. Pure.
//
// With a file a process, each block is a dataset of its own. With a file a node or a job, blocks of a decomposed
// array are put together in a dataset of the whole's shape: with a file a node those that lie in one piece in the
// whole (slabs), since of the others each node would have a thin comb of the whole; with a file a job all but those
// in too many pieces. All other blocks become datasets of their own, named after the client.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/format.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

// Pieces of a block that is put together with others. Each takes up some 500 bytes until it is written.
inline constexpr uint64_t kMostRuns = uint64_t{1} << 18;

struct StoredAs {
  std::string name;               // of the dataset
  const Layout* block = nullptr;  // of the block; borrowed
  bool shared = false;            // whether other clients' blocks are in it, too: it has the whole array's shape

  const std::vector<uint64_t>& shape() const { return shared ? block->global_shape : block->shape; }
  // Where the dataset begins in the whole array.
  std::vector<uint64_t> offset() const;
  uint64_t bytes() const;
};

// A dataset that blocks have come to.
struct StoredDataset {
  std::vector<uint64_t> shape;
  Extent extent;                              // of one that is not in chunks
  std::vector<PlacedChunk> chunks;            // all that a block has
  std::vector<std::vector<uint64_t>> blocks;  // of one that is shared: the place of each that came, sorted
};

// `layout` outlives the answer.
StoredAs stored_as(const Variable& variable, const Layout& layout, FilePer file_per, int client);

// Where a block lies in the whole: its offset and then its shape.
std::vector<uint64_t> place_of(const Layout& block);

// In how many runs of bytes that lie side by side a block lies in its whole array, if both are row-major.
uint64_t runs_in_whole(const Layout& block);

// Where the bytes of a block lie, in their order, if the dataset that it is stored in begins at `begin`.
std::vector<Extent> extents_of(const Layout& block, const StoredAs& as, uint64_t begin);

}  // namespace tailrace::impl
