// The filter pipeline: the bytes of one chunk of a block in, the bytes that its file stores for it out, and back.
//
//   rounded to float16? → padded at the edge → shuffled? → compressed?
//
// Beside the engine; knows neither files nor HDF5, though its results are what HDF5's filters of the same names read.
// Pure but for reused work memory: no I/O, no clock. How a filtered block gets into its file (the server's part):
//
//   const FilterPlan plan = plan_of(variable, layout);          // once a variable
//   ChunkFilter filter(plans);                                  // once a thread
//   for each chunk i, 0 … plan.chunking.count() - 1:
//     Loss loss;
//     stored = filter.apply(plan, block, i, memory, loss);      // memory: plan.stored_chunk_bytes(), until written
//     extents = format.place_chunks(block, i, {&stored, 1}, loss);
//     engine.submit(write the first stored.bytes of memory to extents[0]);
//
// Several chunks may be placed by one call; `loss` is that of the chunks placed by it: the format adds them up, and
// begins anew with chunk 0. The block's own memory is free when its last chunk has been filtered. The same block
// gives the same chunks each time (with the same libraries), and the same calls of the format in the same order
// the same places: a later server that still has the block can repeat it. Reading goes the other way:
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
#include "model/config.hpp"

namespace tailrace::impl {

// How the blocks of one variable are filtered. Plain data.
struct FilterPlan {
  ElementType type = ElementType::float64;  // in the program's memory
  Precision precision = Precision::full;
  bool shuffle = false;
  Compressor compressor = Compressor::none;
  int level = 0;
  Chunking chunking;

  // Bytes of an element in memory, and in the file before it is compressed.
  uint64_t element_bytes() const { return size_of(type); }
  uint64_t stored_element_bytes() const { return precision == Precision::float16 ? kHalfBytes : size_of(type); }
  // The most that a chunk has in the file.
  uint64_t stored_chunk_bytes() const { return chunking.elements() * stored_element_bytes(); }
  // Filters in the file's pipeline, in their order: shuffle, compressor.
  uint32_t filters() const { return (shuffle ? 1u : 0u) + (compressor != Compressor::none ? 1u : 0u); }

  // The bytes of a chunk in its block.
  struct Range {
    uint64_t offset = 0;
    uint64_t length = 0;
  };
  Range range(uint64_t index) const;
  // Returns true if the chunk, without filters, has the same bytes in the file as in its block: it is neither rounded
  // nor padded.
  bool is_plain(uint64_t index) const;
};

// How much work a chunk is worth when time is short. Rounding to float16 is not work but meaning: it is never left
// out.
enum class Effort : uint8_t {
  full,     // as the plan says
  relaxed,  // by the compressor's fastest level
  skipped   // not compressed at all
};

// Requires variable.filtered().
FilterPlan plan_of(const Variable& variable, const Layout& layout);

// The result of filtering a chunk.
struct FilteredChunk {
  uint64_t bytes = 0;    // that the file stores
  uint32_t skipped = 0;  // bit i: filter i of the pipeline was not applied: it would not have helped, or by `effort`
  Effort effort = Effort::full;  // less only if that is less than the plan says

  // One that no filter is applied to.
  static FilteredChunk as_it_is(const FilterPlan& plan, Effort effort);
};

class ChunkFilter {
 public:
  // Takes the memory that it needs for these plans (what decompressing needs, with the first restore()); others are
  // not to be given to it. Not for two threads at a time.
  explicit ChunkFilter(std::span<const FilterPlan> plans);
  // Provides further plans.
  void provide(std::span<const FilterPlan> plans);

  // Filters chunk `index` of the block, all of whose bytes are in `block`, into `out`, which has at least
  // stored_chunk_bytes(); adds what rounding lost to `loss`. A chunk that does not become smaller is stored as it is.
  FilteredChunk apply(const FilterPlan& plan, std::span<const std::byte> block, uint64_t index,
                      std::span<std::byte> out, Loss& loss, Effort effort = Effort::full);
  // Undoes it: `stored` are the bytes of chunk `index` in the file, which may be any; its elements go to their place
  // in `block`. TAILRACE_IO_ERROR if they are none of such a chunk.
  Status restore(const FilterPlan& plan, std::span<const std::byte> stored, uint32_t skipped, uint64_t index,
                 std::span<std::byte> block);

 private:
  Codec& codec_of(Compressor compressor, int level);

  std::vector<std::byte> whole_;     // a chunk, rounded and padded
  std::vector<std::byte> shuffled_;  // the same, shuffled
  std::map<std::pair<Compressor, int>, std::unique_ptr<Codec>> codecs_;
};

}  // namespace tailrace::impl
