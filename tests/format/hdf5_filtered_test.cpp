// Filtered variables: their chunks are found again, in the image and in the file, with the data that were handed
// over; also chunks that come twice, are lost or are stored in another way. Independent readers read them too: h5dump
// here, h5py in read_filtered.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "filtered_file.hpp"
#include "format/hdf5/inspect_file.hpp"
#include "testing/hdf5_file.hpp"
#include "testing/scratch.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

FilterPlan plan_for(const Config& config, uint32_t index) {
  return plan_of(config.variables[index], config.layout_of(config.variables[index]));
}

// Returns the block as a reader assembles it from the file.
std::vector<std::byte> restored(const Config& config, uint32_t index, const std::vector<PlacedChunk>& chunks,
                                const std::string& path) {
  const FilterPlan plan = plan_for(config, index);
  ChunkFilter filter({&plan, 1});
  std::vector<std::byte> block(config.layout_of(config.variables[index]).bytes());
  const std::vector<std::byte> file = bytes_of_file(path).value();
  EXPECT_EQ(chunks.size(), plan.chunking.count());
  for (uint64_t i = 0; i < chunks.size(); ++i) {
    const Extent& extent = chunks[i].extent;
    EXPECT_LE(extent.end(), file.size());
    if (extent.end() > file.size()) return {};
    const Status status =
        filter.restore(plan, std::span(file).subspan(extent.offset, extent.length), chunks[i].skipped, i, block);
    EXPECT_TRUE(status.ok()) << status.fault().message;
  }
  return block;
}

// Returns the values of the variable, rounded if configured.
std::vector<std::byte> as_stored(const Config& config, uint32_t index) {
  std::vector<std::byte> values = filtered_values(config, index);
  const Layout& layout = config.layout_of(config.variables[index]);
  if (config.variables[index].precision == Precision::full) return values;
  std::vector<std::byte> halves(layout.elements() * kHalfBytes);
  to_half(values, layout.type, halves);
  from_half(halves, layout.type, values);
  return values;
}

void write_all(Hdf5Format& format, const Config& config, int64_t iteration, const std::string& path) {
  for (uint32_t i = 0; i < config.variables.size(); ++i) {
    const std::vector<std::byte> bytes = filtered_values(config, i);
    if (config.variables[i].filtered()) {
      put_filtered(format, config, block_of(config, i, iteration, 0), bytes, path, i % 3 + 1);
    } else {
      put(path, {place_whole(format, block_of(config, i, iteration, 0)).value().offset, bytes});
    }
  }
  finish_file(format, iteration, path);
}

TEST(Hdf5Filtered, WhatWasHandedOverIsReadBack) {
  const ScratchDirectory directory;
  const Config config = filtered_config({directory.path()});
  const std::string path = directory / "sim_c0_000004.h5";
  Hdf5Format format(config, os_files(), format_options());
  write_all(format, config, 4, path);
  Hdf5Format later(config, os_files(), format_options());  // knows only the file
  for (uint32_t i = 0; i < config.variables.size(); ++i) {
    if (!config.variables[i].filtered()) continue;
    SCOPED_TRACE(config.variables[i].name);
    const Result<LocatedChunks> known = format.locate_chunks(block_of(config, i, 4, 0));
    const Result<LocatedChunks> found = later.locate_chunks(block_of(config, i, 4, 0));
    ASSERT_TRUE(known.ok());
    ASSERT_TRUE(found.ok()) << found.status().fault().message;
    EXPECT_EQ(known.value().path, path);
    EXPECT_EQ(found.value().path, path);
    EXPECT_EQ(restored(config, i, known.value().chunks, path), as_stored(config, i));
    EXPECT_EQ(restored(config, i, found.value().chunks, path), as_stored(config, i));
    const bool is_noise = config.variables[i].name.starts_with("noise");
    EXPECT_EQ(found.value().chunks[0].skipped, is_noise ? 3u : 0u);
    for (const PlacedChunk& chunk : found.value().chunks) {
      if (chunk.extent.length >= 4096) {
        EXPECT_EQ(chunk.extent.offset % 4096, 0u);
      }
    }
  }
}

TEST(Hdf5Filtered, Hdf5ReadsWhatIsOnlyRounded) {
  const ScratchDirectory directory;
  const Config config = filtered_config({directory.path()});
  const std::string path = directory / "file.h5";
  Hdf5Format format(config, os_files(), format_options());
  write_all(format, config, 4, path);
  const std::unique_ptr<Hdf5File> file = Hdf5File::open(path);
  ASSERT_NE(file, nullptr);
  const auto index = static_cast<uint32_t>(config.find_variable("half"));
  std::vector<std::byte> halves(config.layouts[index].elements() * kHalfBytes);
  to_half(filtered_values(config, index), ElementType::float32, halves);
  EXPECT_EQ(file->read(4, "half"), halves);
  EXPECT_EQ(file->texts("/data/4/meshes/half", "tailraceLossy"), std::vector<std::string>{"float16"});
  EXPECT_EQ(file->texts("/data/4/meshes/half", "tailraceOriginalType"), std::vector<std::string>{"float32"});
  EXPECT_TRUE(file->texts("/data/4/meshes/deflated", "tailraceLossy").empty());
}

TEST(Hdf5Filtered, ABlockThatComesAgainReplacesTheOneBefore) {
  const ScratchDirectory directory;
  const Config config = filtered_config({directory.path()});
  const std::string path = directory / "sim_c0_000001.h5";
  Hdf5Format format(config, os_files(), format_options());
  for (uint32_t i = 0; i < config.variables.size(); ++i) {
    if (!config.variables[i].filtered()) continue;
    const std::vector<std::byte> zeros(config.layouts[i].bytes());
    put_filtered(format, config, block_of(config, i, 1, 0), zeros, path);
    put_filtered(format, config, block_of(config, i, 1, 0), filtered_values(config, i), path, 4);
  }
  finish_file(format, 1, path);
  Hdf5Format later(config, os_files(), format_options());
  for (uint32_t i = 0; i < config.variables.size(); ++i) {
    if (!config.variables[i].filtered()) continue;
    SCOPED_TRACE(config.variables[i].name);
    const std::vector<PlacedChunk> chunks = later.locate_chunks(block_of(config, i, 1, 0)).value().chunks;
    EXPECT_EQ(restored(config, i, chunks, path), as_stored(config, i));
  }
}

// One server after another places and writes the chunks of one file until it dies. Each begins with the places of its
// predecessors, and puts the blocks again that had not ended, with chunks of other lengths.
TEST(Hdf5Filtered, AFileOfSeveralServersIsWholeWhateverEachOfThemWrote) {
  for_seeds(60, [](uint64_t seed) {
    Dice dice(seed);
    const ScratchDirectory directory;
    std::vector<SampleVariable> variables;
    for (uint64_t i = dice.between(1, 3); i > 0; --i) {
      variables.push_back({"v" + std::to_string(i), ElementType::float64, {dice.between(1, 1500)}});
    }
    Config config = sample_config({directory.path()}, variables);
    for (Variable& variable : config.variables) variable.compress = {Compressor::zstd, 3, true, 4096};
    const std::string path = directory / "sim_c0_000001.h5";
    struct Placed {
      uint32_t variable;
      uint64_t index;
      FilteredChunk chunk;
    };
    std::vector<Placed> ledger;
    std::vector<bool> ended(variables.size());
    std::vector<std::vector<std::vector<std::byte>>> chunks(variables.size());  // as they were put last
    for (uint64_t lives = dice.between(1, 4); lives > 0; --lives) {
      Hdf5Format format(config, os_files(), format_options());
      const auto place = [&](const Placed& one) {
        return format.place_chunks(block_of(config, one.variable, 1, 0), one.index, {&one.chunk, 1}, {}).value();
      };
      for (const Placed& one : ledger) (void)place(one);
      const bool dies = lives > 1;
      for (uint32_t i = 0; i < variables.size(); ++i) {
        const FilterPlan plan = plan_for(config, i);
        const uint64_t count = plan.chunking.count();
        const uint64_t placed = ended[i] ? 0 : dies ? dice.between(0, count) : count;
        bool all_written = true;
        if (placed > 0) chunks[i].resize(count);
        for (uint64_t index = 0; index < placed; ++index) {
          const uint64_t most = plan.stored_chunk_bytes();
          const uint64_t bytes = dice.between(1, dice.chance(50) ? std::min<uint64_t>(64, most) : most);
          ledger.push_back({i, index, {bytes, 3}});
          const Extent extent = place(ledger.back()).extents[0];
          chunks[i][index] = pattern(bytes, seed + ledger.size());
          const bool written = !dies || dice.chance(50);
          if (written) put(path, {extent.offset, chunks[i][index]});
          all_written = all_written && written;
        }
        ended[i] = ended[i] || (placed == count && all_written);
      }
      if (!dies) finish_file(format, 1, path);
    }
    EXPECT_NE(Hdf5File::open(path), nullptr) << "HDF5 refuses it";
    const std::vector<std::byte> file = bytes_of_file(path).value();
    Hdf5Format later(config, os_files(), format_options());
    for (uint32_t i = 0; i < variables.size(); ++i) {
      const Result<LocatedChunks> found = later.locate_chunks(block_of(config, i, 1, 0));
      ASSERT_TRUE(found.ok()) << found.status().fault().message;
      ASSERT_EQ(found.value().chunks.size(), chunks[i].size());
      for (size_t index = 0; index < chunks[i].size(); ++index) {
        const Extent& extent = found.value().chunks[index].extent;
        ASSERT_LE(extent.end(), file.size());
        EXPECT_TRUE(std::ranges::equal(std::span(file).subspan(extent.offset, extent.length), chunks[i][index]));
      }
    }
  });
}

TEST(Hdf5Filtered, NoTwoChunksShareBytes) {
  const ScratchDirectory directory;
  const Config config = filtered_config({directory.path()});
  const std::string path = directory / "file.h5";
  Hdf5Format format(config, os_files(), format_options());
  for (uint32_t i = 0; i < config.variables.size(); ++i) {
    if (config.variables[i].filtered())
      put_filtered(format, config, block_of(config, i, 1, 0), filtered_values(config, i), path);
  }
  const Result<PublicationPlan> ending = format.finish(1);
  ASSERT_TRUE(ending.ok());
  std::vector<Extent> extents;
  for (const PlannedWrite& write : writes_of(ending.value())) extents.push_back({write.offset, write.bytes.size()});
  for (uint32_t i = 0; i < config.variables.size(); ++i) {
    if (!config.variables[i].filtered()) continue;
    const Result<LocatedChunks> located = format.locate_chunks(block_of(config, i, 1, 0));
    for (const PlacedChunk& chunk : located.value().chunks) extents.push_back(chunk.extent);
  }
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  for (size_t i = 1; i < extents.size(); ++i) EXPECT_LE(extents[i - 1].end(), extents[i].offset);
}

TEST(Hdf5Filtered, LocateChunksKnowsWhatWasLostAndWhatNeverCame) {
  const ScratchDirectory directory;
  const Config config = filtered_config({directory.path()});
  Hdf5Format format(config, os_files(), format_options());
  EXPECT_EQ(format.locate_chunks(block_of(config, 0, 1, 0)).status().code(), TAILRACE_NOT_FOUND);
  put_filtered(format, config, block_of(config, 0, 1, 0), filtered_values(config, 0), directory / "file.h5");
  EXPECT_TRUE(format.locate_chunks(block_of(config, 0, 1, 0)).ok()) << "of an unfinished iteration";
  EXPECT_EQ(format.locate_chunks(block_of(config, 1, 1, 0)).status().code(), TAILRACE_NOT_FOUND);
  format.forget(block_of(config, 0, 1, 0), Status::of_errno("write", "f", EIO));
  EXPECT_EQ(format.locate_chunks(block_of(config, 0, 1, 0)).status().fault().system_errno, EIO);
}

TEST(Hdf5Filtered, AFileStoredInAnotherWayIsNotRead) {
  const ScratchDirectory directory;
  const Config before = filtered_config({directory.path()});
  Hdf5Format format(before, os_files(), format_options());
  write_all(format, before, 2, directory / "sim_c0_000002.h5");
  const auto index = static_cast<uint32_t>(before.find_variable("deflated"));
  const auto code_with = [&](auto change) {
    Config now = before;
    change(now.variables[index]);
    return Hdf5Format(now, os_files(), format_options()).locate_chunks(block_of(now, index, 2, 0)).status().code();
  };
  EXPECT_EQ(code_with([](Variable& variable) { variable.compress.level = 7; }), TAILRACE_OK) << "any level is read";
  EXPECT_EQ(code_with([](Variable& variable) { variable.compress.filter = Compressor::zstd; }), TAILRACE_WRONG_SHAPE);
  EXPECT_EQ(code_with([](Variable& variable) { variable.compress.shuffle = false; }), TAILRACE_WRONG_SHAPE);
  EXPECT_EQ(code_with([](Variable& variable) { variable.compress.chunk = 9000; }), TAILRACE_WRONG_SHAPE);
  EXPECT_EQ(code_with([](Variable& variable) { variable.precision = Precision::float16; }), TAILRACE_WRONG_SHAPE);
  EXPECT_EQ(code_with([](Variable& variable) { variable.layout = 3; }), TAILRACE_WRONG_SHAPE) << "another type";
  const auto plain = static_cast<uint32_t>(before.find_variable("plain"));
  Config now = before;
  now.variables[plain].compress = {Compressor::zstd, 3, true, 4096};
  EXPECT_EQ(Hdf5Format(now, os_files(), format_options()).locate_chunks(block_of(now, plain, 2, 0)).status().code(),
            TAILRACE_WRONG_SHAPE);
  now = before;
  now.variables[index].compress = {};
  EXPECT_EQ(Hdf5Format(now, os_files(), format_options()).locate(block_of(now, index, 2, 0)).status().code(),
            TAILRACE_WRONG_SHAPE);
}

std::string output_of(const std::string& command) {
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  char line[256];
  while (std::fgets(line, sizeof line, pipe) != nullptr) output += line;
  return pclose(pipe) == 0 ? output : "(failed) " + output;
}

TEST(Hdf5Filtered, H5dumpReadsDeflate) {
  if (std::system("command -v h5dump > /dev/null") != 0) GTEST_SKIP() << "no h5dump here";
  const ScratchDirectory directory;
  Config config = sample_config({directory.path()}, {{"count", ElementType::int32, {40, 50}}});
  config.variables[0].compress = {Compressor::deflate, 6, true, 4096};
  const std::string path = directory / "file.h5";
  Hdf5Format format(config, os_files(), format_options());
  std::vector<std::byte> bytes(8000);
  for (int32_t i = 0; i < 2000; ++i) std::memcpy(&bytes[static_cast<size_t>(i) * 4], &i, 4);
  put_filtered(format, config, block_of(config, 0, 12, 0), bytes, path);
  finish_file(format, 12, path);
  const std::string output = output_of("h5dump -p -d /data/12/meshes/count '" + path + "' 2>&1");
  EXPECT_NE(output.find("CHUNKED ( 20, 50 )"), std::string::npos) << output;
  EXPECT_NE(output.find("COMPRESSION DEFLATE { LEVEL 6 }"), std::string::npos) << output;
  EXPECT_NE(output.find("(0,0): 0, 1, 2"), std::string::npos) << output;
  EXPECT_NE(output.find("1998, 1999\n"), std::string::npos) << output;
}

}  // namespace
}  // namespace tailrace::impl
