// Files of several iterations: each write into one leaves a file that HDF5 opens, with the iterations before it.
#include "format/hdf5/series_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "testing/hdf5_file.hpp"
#include "testing/sample_config.hpp"
#include "testing/scratch.hpp"
#include "written_file.hpp"

namespace tailrace::impl {
namespace {

Config in_files_of(uint64_t iterations, const ScratchDirectory& directory) {
  Config config =
      sample_config({directory.path()}, {{"a", ElementType::float64, {4, 200}}, {"b", ElementType::int32, {10}}});
  config.storage.iterations_per_file = iterations;
  return config;
}

// Writes an iteration as the engine would, under its final name.
void write(Hdf5Format& format, const Config& config, int64_t iteration, const std::string& path) {
  for (const PlannedWrite& one : whole_iteration(format, config, iteration)) put(path, one);
  format.ended(iteration, true);
}

// Expects that the file has exactly these iterations, with the right values.
void expect_iterations(const std::string& path, const std::vector<int64_t>& iterations) {
  const std::unique_ptr<Hdf5File> file = Hdf5File::open(path);
  ASSERT_NE(file, nullptr);
  for (const int64_t iteration : iterations) {
    EXPECT_EQ(file->variables(iteration), (std::vector<std::string>{"a", "b"})) << iteration;
    EXPECT_EQ(file->read(iteration, "a"), pattern(6400, 0)) << iteration;
    EXPECT_EQ(file->read(iteration, "b"), pattern(40, 1)) << iteration;
  }
  EXPECT_EQ(file->texts("/", "iterationEncoding"), std::vector<std::string>{"groupBased"});
  EXPECT_EQ(file->texts("/", "iterationFormat"), std::vector<std::string>{"/data/%T/"});
  const auto contents = read_contents(os_files(), path);
  ASSERT_TRUE(contents.ok() && contents.value());
  EXPECT_EQ(contents.value()->iterations.iterations(), iterations);
  EXPECT_EQ(std::filesystem::file_size(path), contents.value()->end);
}

TEST(SeriesFile, AllIterationsAreInOneFile) {
  const ScratchDirectory directory;
  const Config config = in_files_of(0, directory);
  Hdf5Format format(config, os_files(), format_options());
  const std::string path = directory / "sim_c0_000000.h5";
  std::vector<int64_t> iterations;
  // More than a chunk of links has.
  for (int64_t iteration = 0; iteration < 3 * 128 + 5; ++iteration) {
    write(format, config, 7 * iteration, path);
    iterations.push_back(7 * iteration);
    EXPECT_TRUE(format.published(7 * iteration));
    EXPECT_FALSE(format.published(7 * iteration + 1));
    const auto count = iterations.size();
    if (count < 4 || count % 128 < 2) expect_iterations(path, iterations);
  }
  expect_iterations(path, iterations);
  // Iterations that are no longer remembered are looked up.
  Hdf5Format later(config, os_files(), format_options());
  const Located located = later.locate(block_of(config, 1, 7 * 130, 0)).value();
  EXPECT_EQ(located.path, path);
  EXPECT_EQ(located.extents[0].length, 40u);
  EXPECT_EQ(later.locate(block_of(config, 1, 1, 0)).status().code(), TAILRACE_NOT_FOUND);
}

TEST(SeriesFile, AFileHasSoManyNumbersOfIterations) {
  const ScratchDirectory directory;
  const Config config = in_files_of(10, directory);
  Hdf5Format format(config, os_files(), format_options());
  for (const int64_t iteration : {3, 9, 10, 12, 25}) {
    ASSERT_TRUE(format.place(block_of(config, 0, iteration, 0)).ok());
    write(format, config, iteration, format.files(iteration)[0].final_path);
  }
  expect_iterations(directory / "sim_c0_000000.h5", {3, 9});
  expect_iterations(directory / "sim_c0_000010.h5", {10, 12});
  expect_iterations(directory / "sim_c0_000020.h5", {25});
}

// As a crash would: the file ends after any of the writes.
TEST(SeriesFile, EachWriteLeavesAWholeFile) {
  const ScratchDirectory directory;
  const Config config = in_files_of(0, directory);
  const std::string path = directory / "sim_c0_000000.h5";
  for (int64_t iteration = 0; iteration < 130; ++iteration) {
    // Each time as another run, which knows only the file.
    Hdf5Format format(config, os_files(), format_options());
    const std::vector<PlannedWrite> writes = whole_iteration(format, config, iteration);
    EXPECT_EQ(format.files(iteration)[0].is_published(), iteration > 0);
    const bool looked_at = iteration > 0 && (iteration < 3 || iteration > 126);
    std::vector<int64_t> before;
    for (int64_t earlier = 0; earlier < iteration; ++earlier) before.push_back(earlier);
    for (const PlannedWrite& one : writes) {
      if (looked_at) {
        const auto contents = read_contents(os_files(), path);
        ASSERT_TRUE(contents.ok() && contents.value());
        ASSERT_EQ(contents.value()->iterations.iterations(), before);
        ASSERT_NE(Hdf5File::open(path), nullptr);
        ASSERT_EQ(Hdf5File::open(path)->read(iteration - 1, "a"), pattern(6400, 0));
      }
      put(path, one);
    }
    EXPECT_TRUE(format.published(iteration));
  }
}

TEST(SeriesFile, AfterAFailureTheNextIterationTakesThePlace) {
  const ScratchDirectory directory;
  const Config config = in_files_of(0, directory);
  Hdf5Format format(config, os_files(), format_options());
  const std::string path = directory / "sim_c0_000000.h5";
  write(format, config, 0, path);
  const Extent failed = place_whole(format, block_of(config, 0, 1, 0)).value();
  ASSERT_TRUE(format.finish(1).ok());
  format.ended(1, false);
  EXPECT_FALSE(format.published(1));
  EXPECT_EQ(place_whole(format, block_of(config, 0, 2, 0)).value().offset, failed.offset);
  format.discard(2);
  write(format, config, 3, path);
  expect_iterations(path, {0, 3});
}

// The next iteration goes behind one that is being published, also if another file was opened meanwhile.
TEST(SeriesFile, APublicationUnderWayKeepsItsPlace) {
  const ScratchDirectory directory;
  const Config config = in_files_of(10, directory);
  Hdf5Format format(config, os_files(), format_options());
  const std::vector<PlannedWrite> first = whole_iteration(format, config, 0);
  uint64_t end = 0;
  for (const PlannedWrite& one : first) end = std::max<uint64_t>(end, one.offset + one.bytes.size());
  ASSERT_TRUE(format.place(block_of(config, 0, 10, 0)).ok());
  EXPECT_GE(place_whole(format, block_of(config, 0, 1, 0)).value().offset, end);
  format.discard(1);
  for (const PlannedWrite& one : first) put(directory / "sim_c0_000000.h5", one);
  format.ended(0, true);
  write(format, config, 1, directory / "sim_c0_000000.h5");
  expect_iterations(directory / "sim_c0_000000.h5", {0, 1});
}

TEST(SeriesFile, AnIterationIsNotReplaced) {
  const ScratchDirectory directory;
  const Config config = in_files_of(0, directory);
  const std::string path = directory / "sim_c0_000000.h5";
  {
    Hdf5Format format(config, os_files(), format_options());
    write(format, config, 5, path);
  }
  Hdf5Format format(config, os_files(), format_options());
  const Status refused = format.place(block_of(config, 0, 5, 0)).status();
  EXPECT_EQ(refused.code(), TAILRACE_EXISTS);
  EXPECT_NE(refused.fault().message.find("iteration 5 is in '" + path), std::string::npos);
  EXPECT_EQ(format.finish(5).status().code(), TAILRACE_EXISTS);
  format.discard(5);
  std::ofstream(directory / "sim_c0_000000.h5") << "not HDF5";
  Hdf5Format later(config, os_files(), format_options());
  EXPECT_EQ(later.place(block_of(config, 0, 6, 0)).status().code(), TAILRACE_IO_ERROR);
}

// A series that had a file for each iteration goes on with several in each.
TEST(SeriesFile, AFileOfOneIterationGetsMore) {
  const ScratchDirectory directory;
  const std::string path = directory / "sim_c0_000000.h5";
  {
    const Config config = in_files_of(1, directory);
    Hdf5Format format(config, os_files(), format_options());
    write(format, config, 0, path);
  }
  const Config config = in_files_of(4, directory);
  Hdf5Format format(config, os_files(), format_options());
  write(format, config, 2, path);
  expect_iterations(path, {0, 2});
}

}  // namespace
}  // namespace tailrace::impl
