// The rig of the tests of filtered variables: it acts as the server and the engine, chunk by chunk, with a real file.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "testing/sample_config.hpp"
#include "written_file.hpp"

namespace tailrace::impl {

// Filters the block and writes its chunks where the format places them, up to `together` chunks in one call.
inline void put_filtered(Format& format, const Config& config, const Block& block,
                         const std::vector<std::byte>& bytes, const std::string& path, uint64_t together = 1) {
  const Variable& variable = config.variables[block.variable];
  const FilterPlan plan = plan_of(variable, config.layout_of(variable));
  ChunkFilter filter({&plan, 1});
  for (uint64_t first = 0; first < plan.chunking.count(); first += together) {
    Loss loss;
    std::vector<FilteredChunk> chunks;
    std::vector<std::vector<std::byte>> stored;
    for (uint64_t i = first; i < std::min(first + together, plan.chunking.count()); ++i) {
      stored.emplace_back(plan.stored_chunk_bytes());
      chunks.push_back(filter.apply(plan, bytes, i, stored.back(), loss));
      stored.back().resize(chunks.back().bytes);
    }
    const Result<Placement> placement = format.place_chunks(block, first, chunks, loss);
    ASSERT_TRUE(placement.ok()) << placement.status().fault().message;
    const std::vector<Extent>& extents = placement.value().extents;
    ASSERT_EQ(extents.size(), chunks.size());
    for (size_t i = 0; i < chunks.size(); ++i) {
      ASSERT_EQ(extents[i].length, chunks[i].bytes);
      put(path, {extents[i].offset, stored[i]});
    }
  }
}

inline void finish_file(Format& format, int64_t iteration, const std::string& path) {
  Result<PublicationPlan> ending = format.finish(iteration);
  ASSERT_TRUE(ending.ok()) << ending.status().fault().message;
  for (const PlannedWrite& write : writes_of(ending.value())) put(path, write);
}

// Returns a variable for each way of filtering: every compressor, with and without shuffle and rounding, with chunks
// at the edge.
inline Config filtered_config(std::vector<std::string> paths) {
  struct Way {
    const char* name;
    ElementType type;
    Compression compress;
    Precision precision;
  };
  const uint64_t chunk = 4096;
  const Way ways[] = {
      {"deflated", ElementType::float32, {Compressor::deflate, 1, true, chunk}, Precision::full},
      {"deflated_unshuffled", ElementType::float64, {Compressor::deflate, 9, false, chunk}, Precision::full},
      {"zstd_shuffled", ElementType::float64, {Compressor::zstd, 3, true, chunk}, Precision::full},
      {"zstd_unshuffled", ElementType::int16, {Compressor::zstd, 19, false, chunk}, Precision::full},
      {"bytes", ElementType::uint8, {Compressor::zstd, 1, true, chunk}, Precision::full},
      {"one_chunk", ElementType::int64, {Compressor::deflate, 6, true, uint64_t{1} << 20}, Precision::full},
      {"half", ElementType::float32, {Compressor::none, 0, true, chunk}, Precision::float16},
      {"half_zstd", ElementType::float64, {Compressor::zstd, 3, true, chunk}, Precision::float16},
      {"half_deflated", ElementType::long_double, {Compressor::deflate, 6, true, chunk}, Precision::float16},
      {"lossy", ElementType::float32, {Compressor::zstd, 3, true, chunk}, Precision::float16},
      {"noise", ElementType::uint32, {Compressor::zstd, 3, true, chunk}, Precision::full},
      {"noise_deflated", ElementType::uint32, {Compressor::deflate, 6, true, chunk}, Precision::full},
  };
  std::vector<SampleVariable> variables;
  for (const Way& way : ways) variables.push_back({way.name, way.type, {13, 7, 50}});
  variables.push_back({"plain", ElementType::float32, {13, 7, 50}});
  Config config = sample_config(std::move(paths), variables);
  for (size_t i = 0; i < std::size(ways); ++i) {
    config.variables[i].compress = ways[i].compress;
    config.variables[i].precision = ways[i].precision;
  }
  return config;
}

// Returns element `i` of variable `variable`, by the same formula as read_filtered.py. Noise is pseudo-random.
inline uint64_t noise(uint64_t i) {
  uint64_t x = (i + 1) * 0x9e3779b97f4a7c15;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9;
  return x ^ x >> 32;
}

template <class Number>
void fill_with(std::vector<std::byte>& bytes, uint64_t variable, bool is_noise) {
  for (uint64_t i = 0; i < bytes.size() / sizeof(Number); ++i) {
    const uint64_t plain = (i * 3 + i / 7 + variable) % 100;
    const auto number = static_cast<Number>(is_noise ? noise(i) : plain);
    std::memcpy(&bytes[i * sizeof(Number)], &number, std::is_same_v<Number, long double> ? 10 : sizeof number);
  }
}

// Fills in numbers that float16 cannot represent, some of them too large for it.
inline void fill_with_lossy(std::vector<std::byte>& bytes) {
  for (uint64_t i = 0; i < bytes.size() / sizeof(float); ++i) {
    const float number = static_cast<float>(i) * 123.456f;
    std::memcpy(&bytes[i * sizeof number], &number, sizeof number);
  }
}

inline std::vector<std::byte> filtered_values(const Config& config, uint32_t index) {
  const Variable& variable = config.variables[index];
  const Layout& layout = config.layout_of(variable);
  std::vector<std::byte> bytes(layout.bytes());
  if (variable.name == "lossy") {
    fill_with_lossy(bytes);
    return bytes;
  }
  const bool is_noise = variable.name.starts_with("noise");
  switch (layout.type) {
    case ElementType::uint8: fill_with<uint8_t>(bytes, index, is_noise); break;
    case ElementType::int16: fill_with<int16_t>(bytes, index, is_noise); break;
    case ElementType::uint32: fill_with<uint32_t>(bytes, index, is_noise); break;
    case ElementType::int64: fill_with<int64_t>(bytes, index, is_noise); break;
    case ElementType::float32: fill_with<float>(bytes, index, is_noise); break;
    case ElementType::float64: fill_with<double>(bytes, index, is_noise); break;
    case ElementType::long_double: fill_with<long double>(bytes, index, is_noise); break;
    default: ADD_FAILURE() << "no such type here";
  }
  return bytes;
}

}  // namespace tailrace::impl
