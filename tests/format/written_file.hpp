// The rig of the format's tests: it acts as the engine, with a vector of bytes or a real file as the file.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include "format/hdf5/hdf5_format.hpp"
#include "model/config/config.hpp"
#include "storage/os/os_file_system.hpp"

namespace tailrace::impl {

// Returns the files in which formats look for earlier output.
inline FileSystem& os_files() {
  static OsFileSystem files;
  return files;
}

inline Hdf5Format::Options format_options(int client = 0) {
  return {client, "machine", [] { return std::string("2026-01-02 03:04:05 +0000"); }};
}

// One write: what the engine would do for a block or a piece of metadata.
struct PlannedWrite {
  uint64_t offset = 0;
  std::vector<std::byte> bytes;
};

inline std::vector<std::byte> pattern(uint64_t length, uint64_t seed) {
  std::vector<std::byte> bytes(length);
  for (uint64_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>((i * 131 + i / 256 + seed * 29) & 0x7f);
  return bytes;
}

inline void put(std::vector<std::byte>& file, const PlannedWrite& write) {
  file.resize(std::max<size_t>(file.size(), write.offset + write.bytes.size()));
  std::copy(write.bytes.begin(), write.bytes.end(), file.begin() + static_cast<ptrdiff_t>(write.offset));
}

inline void put(const std::string& path, const PlannedWrite& write) {
  std::ofstream(path, std::ios::binary | std::ios::app);  // creates it, or leaves its contents
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(write.offset));
  file.write(reinterpret_cast<const char*>(write.bytes.data()), static_cast<std::streamsize>(write.bytes.size()));
  ASSERT_TRUE(file.good());
}

// Returns the place of a block that is stored in one piece.
inline Result<Extent> place_whole(Format& format, const Block& block) {
  const Result<Placement> placement = format.place(block);
  if (!placement.ok()) return placement.status();
  const std::vector<Extent>& extents = placement.value().extents;
  EXPECT_LE(extents.size(), 1u);
  return extents.empty() ? Extent{} : extents[0];
}

// Returns the writes that complete a file, the head last.
inline std::vector<PlannedWrite> writes_of(const PublicationPlan& plan) {
  std::vector<PlannedWrite> writes;
  for (const PublicationStep& step : plan.steps) {
    for (const MetadataPiece& piece : step.pieces) {
      const std::span<const std::byte> bytes = piece.bytes.all();
      writes.push_back({piece.offset, {bytes.begin(), bytes.end()}});
    }
  }
  return writes;
}

// Returns all writes of an iteration with every variable in it, the head last.
inline std::vector<PlannedWrite> whole_iteration(Format& format, const Config& config, int64_t iteration) {
  std::vector<PlannedWrite> writes;
  for (uint32_t variable = 0; variable < config.variables.size(); ++variable) {
    const Result<Extent> extent = place_whole(format, block_of(config, variable, iteration, 0));
    EXPECT_TRUE(extent.ok()) << extent.status().fault().message;
    if (!extent.ok()) continue;
    writes.push_back({extent.value().offset, pattern(extent.value().length, variable)});
  }
  Result<PublicationPlan> ending = format.finish(iteration);
  EXPECT_TRUE(ending.ok());
  for (PlannedWrite& write : writes_of(ending.value())) writes.push_back(std::move(write));
  return writes;
}

}  // namespace tailrace::impl
