// Every writer writes, for every iteration and variable, the computed block, and does not change the computation; and
// a run leaves nothing behind.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <algorithm>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "lab/pattern/errors.hpp"
#include "lab/pattern/folders.hpp"
#include "lab/pattern/measure.hpp"
#include "lab/pattern/memory.hpp"
#include "lab/pattern/run.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

struct Way {
  std::string name;
  Writer writer;
  Verb verb = Verb::alloc;
  Buffers buffers = Buffers::pool;
  int arrays = 2;
  bool direct = true;
};

const std::vector<Way>& ways() {
  static const std::vector<Way> all = {
      {"sync", Writer::sync},
      {"sync_cached", Writer::sync, Verb::alloc, Buffers::pool, 2, false},
      {"sync_hdf5", Writer::sync_hdf5},
      {"bare", Writer::bare},
      {"posix_aio", Writer::posix_aio},
      {"tailrace_alloc", Writer::tailrace, Verb::alloc},
      {"tailrace_alloc_cached", Writer::tailrace, Verb::alloc, Buffers::pool, 2, false},
      {"tailrace_write", Writer::tailrace, Verb::write},
      {"tailrace_write_unaligned", Writer::tailrace, Verb::write, Buffers::unaligned},
      {"tailrace_borrow", Writer::tailrace, Verb::borrow},
      {"tailrace_borrow_one_array", Writer::tailrace, Verb::borrow, Buffers::pool, 1},
      {"tailrace_borrow_malloc", Writer::tailrace, Verb::borrow, Buffers::malloc},
      {"tailrace_borrow_unaligned", Writer::tailrace, Verb::borrow, Buffers::unaligned},
  };
  return all;
}

// A directory for the test, removed with it.
class Scratch {
 public:
  Scratch() {
    std::string name = "pattern_writers_test.XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Scratch() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

RunOptions small_run(const fs::path& directory, const Way& way) {
  RunOptions options;
  options.passes = 5;
  options.write.writer = way.writer;
  options.write.verb = way.verb;
  options.write.buffers = way.buffers;
  options.write.arrays = way.arrays;
  options.write.direct = way.direct;
  options.write.iterations = 7;
  options.write.variables = 3;
  options.write.bytes = 3 * 100001;  // blocks that are not whole pages
  options.write.directories = {(directory / "a").string(), (directory / "b").string()};
  return options;
}

std::vector<char> read_bytes(const fs::path& file, uint64_t offset, uint64_t bytes) {
  std::vector<char> data(bytes);
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  stream.read(data.data(), static_cast<std::streamsize>(bytes));
  EXPECT_TRUE(stream) << file;
  return data;
}

std::vector<char> read_hdf5(const fs::path& name, const std::string& set_name, uint64_t bytes) {
  std::vector<char> data(bytes);
  const hid_t file = H5Fopen(name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, set_name.c_str(), H5P_DEFAULT);
  EXPECT_GE(set, 0) << name << " " << set_name;
  EXPECT_EQ(H5Dget_storage_size(set), bytes);
  EXPECT_GE(H5Dread(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data()), 0);
  H5Dclose(set);
  H5Fclose(file);
  return data;
}

// Returns the contents of the writer's files as one block.
std::vector<char> read_block(const RunOptions& options, const RunResult& result, int variable, int iteration) {
  const WriteOptions& write = options.write;
  const uint64_t bytes = write.block_bytes();
  const fs::path folder = result.kept[static_cast<size_t>(iteration) % result.kept.size()];
  const std::string number = "00000" + std::to_string(iteration);
  const std::string name = "v" + std::to_string(variable);
  const auto position = static_cast<uint64_t>(variable);
  switch (write.writer) {
    case Writer::sync:
    case Writer::bare:
      return read_bytes(folder / ("pattern_" + number), position * ((bytes + 4095) / 4096 * 4096), bytes);
    case Writer::posix_aio: return read_bytes(folder / ("pattern_" + number + ".raw"), position * bytes, bytes);
    case Writer::sync_hdf5: return read_hdf5(folder / ("pattern_" + number + ".h5"), name, bytes);
    case Writer::tailrace:
      return read_hdf5(folder / ("pattern_c0_" + number + ".h5"),
                       "/data/" + std::to_string(iteration) + "/meshes/" + name, bytes);
    case Writer::none: break;
  }
  return {};
}

class EveryWriter : public testing::TestWithParam<Way> {};

TEST_P(EveryWriter, writes_every_block_and_leaves_the_results_alone) {
  const Scratch scratch;
  RunOptions options = small_run(scratch.path(), GetParam());
  const RunResult alone = run(small_run(scratch.path(), {"none", Writer::none}));
  options.write.keep = true;
  const RunResult result = run(options);
  EXPECT_EQ(result.result_hash, alone.result_hash);
  ASSERT_EQ(result.kept.size(), 2U);
  double last = 0;
  for (int iteration = 0; iteration < options.write.iterations; ++iteration) {
    for (int variable = 0; variable < options.write.variables; ++variable) {
      SCOPED_TRACE("v" + std::to_string(variable) + ", iteration " + std::to_string(iteration));
      const std::vector<char> block = read_block(options, result, variable, iteration);
      uint64_t offset = 0, index = 0;
      Stamp found{};
      for (; stamp_at(block.size(), index, &offset); ++index) {
        std::memcpy(&found, block.data() + offset, sizeof found);
        ASSERT_EQ(found.iteration, iteration);
        ASSERT_EQ(found.variable, variable);
        ASSERT_TRUE(index == 0 ? found.result != last : found.result == last);
        last = found.result;
      }
      ASSERT_EQ(index, kStamps);
    }
  }
}

TEST_P(EveryWriter, takes_all_the_times) {
  const Scratch scratch;
  const RunOptions options = small_run(scratch.path(), GetParam());
  const RunResult result = run(options);
  const auto iterations = static_cast<size_t>(options.write.iterations);
  ASSERT_EQ(result.computing.size(), iterations);
  ASSERT_EQ(result.waiting.size(), iterations);
  ASSERT_EQ(result.variables.size(), 3U);
  double sum = 0;
  for (size_t i = 0; i < iterations; ++i) sum += result.computing[i] + result.waiting[i];
  EXPECT_LE(sum, result.total * 1.0001);
  const bool lends = GetParam().verb == Verb::borrow && GetParam().buffers != Buffers::malloc;
  const bool rotates = lends || GetParam().writer == Writer::bare;
  const size_t last = iterations - (rotates ? static_cast<size_t>(GetParam().arrays) : 1);
  for (const VariableTimes& times : result.variables) {
    for (size_t i = 0; i < iterations; ++i) {
      EXPECT_EQ(std::isnan(times.pst[i]), i >= last);
      EXPECT_GE(times.write[i], 0);  // also checks that it is known
      EXPECT_EQ(std::isnan(times.excess[i]), i >= last);
    }
  }
  EXPECT_GT(result.peak_memory, result.buffer_bytes);
}

TEST_P(EveryWriter, leaves_nothing_behind) {
  const Scratch scratch;
  fs::create_directory(scratch.path() / "a");
  std::ofstream(scratch.path() / "a" / "pattern_000000") << "not ours";
  run(small_run(scratch.path(), GetParam()));
  std::vector<fs::path> left;
  for (const auto& entry : fs::recursive_directory_iterator(scratch.path())) left.push_back(entry.path());
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<fs::path>{scratch.path() / "a", scratch.path() / "a" / "pattern_000000"}));
}

INSTANTIATE_TEST_SUITE_P(Writers, EveryWriter, testing::ValuesIn(ways()),
                         [](const testing::TestParamInfo<Way>& way) { return way.param.name; });

TEST(Stamps, end_the_block_and_fit_into_the_smallest) {
  uint64_t offset = 0;
  ASSERT_TRUE(stamp_at(kLeastBlock, 0, &offset));
  EXPECT_EQ(offset, 0U);
  EXPECT_FALSE(stamp_at(kLeastBlock, 1, &offset));
  EXPECT_FALSE(stamp_at(kLeastBlock - 1, 0, &offset));
  ASSERT_TRUE(stamp_at(1 << 20, kStamps - 1, &offset));
  EXPECT_EQ(offset, (1U << 20) - sizeof(Stamp));
  EXPECT_FALSE(stamp_at(1 << 20, kStamps, &offset));
}

TEST(Folders, say_what_cannot_be_made) {
  try {
    OutputFolders folders({"/dev/null/x"}, false);
    FAIL();
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(), "cannot make the directory '/dev/null/x': Not a directory");
  }
}

TEST(Folders, that_were_made_go_if_a_later_one_cannot_be_made) {
  const Scratch scratch;
  const std::string good = (scratch.path() / "x" / "y").string();
  EXPECT_THROW(OutputFolders({good, "/dev/null/x"}, false), RunError);
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

class EveryMeasure : public testing::TestWithParam<Measure> {};

TEST_P(EveryMeasure, gives_growing_samples) {
  for (const bool direct : {true, false}) {
    const Scratch scratch;
    MeasureOptions options;
    options.what = GetParam();
    options.count = 40;
    options.write.writer = Writer::sync;
    options.write.direct = direct;
    options.write.bytes = 10000;
    options.write.directories = {scratch.path().string()};
    const Measured measured = measure(options);
    ASSERT_EQ(measured.samples.size(), 40U);
    double before = 0;
    for (size_t i = 0; i < measured.samples.size(); ++i) {
      EXPECT_EQ(measured.samples[i].first, static_cast<int>(i + 1));
      EXPECT_GE(measured.samples[i].second, before);
      before = measured.samples[i].second;
    }
    EXPECT_TRUE(fs::is_empty(scratch.path()));
  }
}

INSTANTIATE_TEST_SUITE_P(Measures, EveryMeasure,
                         testing::Values(Measure::regression, Measure::saturation, Measure::saturation_write,
                                         Measure::write_copy, Measure::req, Measure::copy),
                         [](const testing::TestParamInfo<Measure>& what) {
                           std::string name = name_of(what.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace bench
