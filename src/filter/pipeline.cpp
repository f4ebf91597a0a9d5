#include "filter/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "base/names/counted.hpp"
#include "filter/codecs/deflate.hpp"
#include "filter/codecs/shuffle.hpp"
#include "filter/codecs/zstd.hpp"

namespace tailrace::impl {
namespace {

// `compressor` is not `none`, and `level` is valid for it.
std::unique_ptr<Codec> make_codec(Compressor compressor, int level) {
  switch (compressor) {
    case Compressor::deflate: return std::make_unique<Deflate>(level);
    case Compressor::zstd: return std::make_unique<Zstd>(level);
    case Compressor::none: break;
  }
  TAILRACE_ASSERT(false);
}

// Returns the compressor's fastest level, unless the plan's own is faster.
int relaxed_level(const FilterPlan& plan) {
  constexpr int fastest_deflate = 1;
  constexpr int fastest_zstd = -5;  // lower levels compress shuffled numbers poorly
  const int fastest = plan.compressor == Compressor::deflate ? fastest_deflate : fastest_zstd;
  return std::min(plan.level, fastest);
}

void copy(std::span<const std::byte> from, std::span<std::byte> to) {
  TAILRACE_ASSERT(from.size() <= to.size());
  std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace

FilterPlan plan_of(const Variable& variable, const Layout& layout) {
  TAILRACE_REQUIRE(variable.filtered());
  FilterPlan plan;
  plan.type = layout.type;
  plan.precision = variable.precision;
  plan.compressor = variable.compress.filter;
  plan.level = variable.compress.level;
  // Shuffling alone saves nothing, and single bytes have no order to change.
  plan.shuffle = variable.compress.shuffle && plan.compressor != Compressor::none && plan.stored_element_bytes() > 1;
  const uint64_t target = std::max<uint64_t>(1, variable.compress.chunk / size_of(layout.type));
  plan.chunking = chunk_slabs(layout.shape, target);
  return plan;
}

FilterPlan::Range FilterPlan::range(uint64_t index) const {
  const Chunking::Run run = chunking.run(index);
  return {run.first * element_bytes(), run.count * element_bytes()};
}

bool FilterPlan::is_plain(uint64_t index) const {
  return precision == Precision::full && range(index).length == stored_chunk_bytes();
}

FilteredChunk FilteredChunk::as_it_is(const FilterPlan& plan, Effort effort) {
  return {plan.stored_chunk_bytes(), (1u << plan.filters()) - 1, effort};
}

ChunkFilter::ChunkFilter(std::span<const FilterPlan> plans) { provide(plans); }

void ChunkFilter::provide(std::span<const FilterPlan> plans) {
  uint64_t largest = whole_.size();
  for (const FilterPlan& plan : plans) {
    largest = std::max(largest, plan.stored_chunk_bytes());
    if (plan.compressor == Compressor::none) continue;
    for (const int level : {plan.level, relaxed_level(plan)}) {
      std::unique_ptr<Codec>& codec = codecs_[{plan.compressor, level}];
      if (!codec) codec = make_codec(plan.compressor, level);
    }
  }
  if (largest == whole_.size()) return;
  whole_.resize(largest);
  shuffled_.resize(largest);
}

Codec& ChunkFilter::codec_of(Compressor compressor, int level) {
  const auto found = codecs_.find({compressor, level});
  TAILRACE_REQUIRE(found != codecs_.end());
  return *found->second;
}

FilteredChunk ChunkFilter::apply(const FilterPlan& plan, std::span<const std::byte> block, uint64_t index,
                                 std::span<std::byte> out, Loss& loss, Effort effort) {
  const uint64_t size = plan.stored_chunk_bytes();
  TAILRACE_REQUIRE(size <= whole_.size());
  TAILRACE_REQUIRE(size <= out.size());
  const FilterPlan::Range range = plan.range(index);
  TAILRACE_REQUIRE(range.offset + range.length <= block.size());

  std::span<const std::byte> whole = block.subspan(range.offset, range.length);
  const bool rounded = plan.precision == Precision::float16;
  const uint64_t filled = range.length / plan.element_bytes() * plan.stored_element_bytes();
  const bool compressed = plan.compressor != Compressor::none && effort != Effort::skipped;
  if (rounded || filled < size) {
    const std::span<std::byte> to = (compressed ? std::span(whole_) : out).first(size);
    if (rounded) {
      loss.add(to_half(whole, plan.type, to.first(filled)));
    } else {
      copy(whole, to);
    }
    std::fill(to.begin() + static_cast<ptrdiff_t>(filled), to.end(), std::byte{0});
    whole = to;
  }
  const int level = effort == Effort::full ? plan.level : relaxed_level(plan);
  if (effort == Effort::relaxed && level == plan.level) effort = Effort::full;
  if (plan.compressor == Compressor::none) effort = Effort::full;
  if (compressed) {
    std::span<const std::byte> input = whole;
    if (plan.shuffle) {
      TAILRACE_ASSERT(whole.size() == size);
      const std::span<std::byte> shuffled = std::span(shuffled_).first(size);
      shuffle(whole, plan.stored_element_bytes(), shuffled);
      input = shuffled;
    }
    // A chunk must become at least one byte smaller to be worth decompressing later.
    const uint64_t bytes = codec_of(plan.compressor, level).compress(input, out.first(size - 1));
    if (bytes > 0) return {bytes, 0, effort};
  }
  if (whole.data() != out.data()) copy(whole, out);
  return FilteredChunk::as_it_is(plan, effort);
}

Status ChunkFilter::restore(const FilterPlan& plan, std::span<const std::byte> stored, uint32_t skipped,
                            uint64_t index, std::span<std::byte> block) {
  const uint64_t size = plan.stored_chunk_bytes();
  TAILRACE_REQUIRE(size <= whole_.size());
  const FilterPlan::Range range = plan.range(index);
  TAILRACE_REQUIRE(range.offset + range.length <= block.size());

  // Each filter has one bit, in the order of the pipeline.
  const bool is_compressed = plan.compressor != Compressor::none && (skipped >> (plan.filters() - 1) & 1) == 0;
  const bool is_shuffled = plan.shuffle && (skipped & 1) == 0;
  if (is_compressed) {
    const std::span<std::byte> to = std::span(shuffled_).first(size);
    if (!codec_of(plan.compressor, plan.level).decompress(stored, to)) {
      return Status(TAILRACE_IO_ERROR,
                    fmt::format("chunk {} has {}, not those of {} for a chunk of {}", index,
                                counted(stored.size(), "byte"), name_of(plan.compressor), counted(size, "byte")));
    }
    stored = to;
  }
  if (stored.size() != size) {
    return Status(TAILRACE_IO_ERROR,
                  fmt::format("chunk {} has {}, expected {}", index, counted(stored.size(), "byte"), size));
  }
  if (is_shuffled) {
    const std::span<std::byte> to = std::span(whole_).first(size);
    unshuffle(stored, plan.stored_element_bytes(), to);
    stored = to;
  }
  const std::span<std::byte> to = block.subspan(range.offset, range.length);
  const uint64_t filled = range.length / plan.element_bytes() * plan.stored_element_bytes();
  if (plan.precision == Precision::float16) {
    from_half(stored.first(filled), plan.type, to);
  } else {
    copy(stored.first(filled), to);
  }
  return {};
}

}  // namespace tailrace::impl
