// The filter pipeline: turns one chunk of a block into the bytes that its file stores, and back.
//
//   rounded to float16? → padded at the edge → shuffled? → compressed?
//
// It is independent of the engine, and knows neither files nor HDF5, though HDF5's filters of the same names read its
// results. Pure except for reused work memory: no I/O, no clock. The server writes a filtered block into its file as
// follows:
//
//   const FilterPlan plan = plan_of(variable, layout);          // once a variable
//   ChunkFilter filter(plans);                                  // once a thread
//   for each chunk i, 0 … plan.chunking.count() - 1:
//     Loss loss;
//     stored = filter.apply(plan, block, i, memory, loss);      // memory: plan.stored_chunk_bytes(), until written
//     extents = format.place_chunks(block, i, {&stored, 1}, loss);
//     engine.submit(write the first stored.bytes of memory to extents[0]);
//
// One call may place several chunks; `loss` is that of the chunks placed by it. The format adds the losses up, and
// starts again at chunk 0. The block's own memory is free when its last chunk has been filtered. The same block gives
// the same chunks each time (with the same libraries), and the same calls of the format in the same order give the
// same places. So a later server that still has the block can repeat the work. Reading goes the other way:
// format.locate_chunks(), a read of each, filter.restore().
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "filter/chunking.hpp"
#include "filter/codecs/codec.hpp"
#include "filter/half.hpp"
#include "model/variable.hpp"

namespace tailrace::impl {

// The filters for the blocks of one variable. Plain data.
struct FilterPlan {
  ElementType type = ElementType::float64;  // in the program's memory
  Precision precision = Precision::full;
  bool shuffle = false;
  Compressor compressor = Compressor::none;
  int level = 0;
  Chunking chunking;

  // Returns the bytes of an element in memory, and in the file before compression.
  uint64_t element_bytes() const { return size_of(type); }
  uint64_t stored_element_bytes() const { return precision == Precision::float16 ? kHalfBytes : size_of(type); }
  // Returns the most bytes of a chunk in the file.
  uint64_t stored_chunk_bytes() const { return chunking.elements() * stored_element_bytes(); }
  // Returns the number of filters in the file's pipeline: shuffle, then compressor.
  uint32_t filters() const { return (shuffle ? 1u : 0u) + (compressor != Compressor::none ? 1u : 0u); }

  // The position of a chunk's bytes in its block.
  struct Range {
    uint64_t offset = 0;
    uint64_t length = 0;
  };
  Range range(uint64_t index) const;
  // Returns true if the unfiltered chunk has the same bytes in the file as in its block: it is neither rounded nor
  // padded.
  bool is_plain(uint64_t index) const;
};

// The work that a chunk is worth when time is short. Rounding to float16 changes the data's meaning, so it is never
// skipped.
enum class Effort : uint8_t {
  full,     // as planned
  relaxed,  // with the compressor's fastest level
  skipped   // not compressed
};

// Requires variable.filtered().
FilterPlan plan_of(const Variable& variable, const Layout& layout);

// The result of filtering a chunk.
struct FilteredChunk {
  uint64_t bytes = 0;    // bytes that the file stores
  uint32_t skipped = 0;  // bit i: filter i of the pipeline was not applied, because it would not help or by `effort`
  Effort effort = Effort::full;  // less only if it is below the plan's

  // Returns the result for a chunk to which no filter is applied.
  static FilteredChunk as_it_is(const FilterPlan& plan, Effort effort);
};

class ChunkFilter {
 public:
  // Allocates the memory for these plans (that for decompressing, at the first restore()). Use it only with these
  // plans, on one thread at a time.
  explicit ChunkFilter(std::span<const FilterPlan> plans);
  // Allocates memory for further plans.
  void provide(std::span<const FilterPlan> plans);

  // Filters chunk `index` of the block into `out`, which has at least stored_chunk_bytes(). `block` holds all bytes
  // of the block. Adds the loss of rounding to `loss`. A chunk that does not become smaller is stored unchanged.
  FilteredChunk apply(const FilterPlan& plan, std::span<const std::byte> block, uint64_t index,
                      std::span<std::byte> out, Loss& loss, Effort effort = Effort::full);
  // Undoes apply(): `stored` has the bytes of chunk `index` in the file, which are not trusted; its elements go to
  // their place in `block`. Fails with TAILRACE_IO_ERROR if the bytes are not those of such a chunk.
  Status restore(const FilterPlan& plan, std::span<const std::byte> stored, uint32_t skipped, uint64_t index,
                 std::span<std::byte> block);

 private:
  Codec& codec_of(Compressor compressor, int level);

  std::vector<std::byte> whole_;     // a chunk, rounded and padded
  std::vector<std::byte> shuffled_;  // the same, shuffled
  std::map<std::pair<Compressor, int>, std::unique_ptr<Codec>> codecs_;
};

}  // namespace tailrace::impl
