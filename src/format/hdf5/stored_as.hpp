// As what a block is stored: in which dataset of its iteration's file, and where in it. Pure.
//
// With a file a process, each block is a dataset of its own. With a file a node, blocks of a decomposed array that
// lie in one piece in the whole (slabs) are put together in a dataset of the whole's shape; all others become
// datasets of their own, named after the client.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "format/format.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

struct StoredAs {
  std::string name;     // of the dataset
  Layout layout;        // of the dataset
  uint64_t first = 0;   // bytes from its start
  bool shared = false;  // whether other clients' blocks are in it, too
};

// A dataset that blocks have come to.
struct StoredDataset {
  std::vector<uint64_t> shape;
  Extent extent;                              // of one that is not in chunks
  std::vector<PlacedChunk> chunks;            // all that a block has
  std::vector<std::vector<uint64_t>> blocks;  // of one that is shared: the place of each that came
};

StoredAs stored_as(const Variable& variable, const Layout& layout, FilePer file_per, int client);

// Where a block lies in the whole: its offset and then its shape.
std::vector<uint64_t> place_of(const Layout& block);

// How many elements of the whole array come before the block's, if the block is one piece of it.
std::optional<uint64_t> position_in_whole(const Layout& layout);

}  // namespace tailrace::impl
