// Profiles that are made to measure with are read back, and consistent.
#include "cube/remap/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "cube/remap/metric_set.hpp"
#include "testing/dice.hpp"
#include "testing/scratch.hpp"
#include "testing/seeds.hpp"
#include "tests/cube/archives.hpp"

namespace tailrace::cube {
namespace {

const auto kSilent = [](uint64_t, uint64_t) {};

// Returns the values of a metric, a row for each call path in preorder.
std::vector<std::vector<double>> values_of(const Input& input, size_t metric) {
  std::vector<std::vector<double>> values(input.profile.tree.size());
  std::vector<std::byte> memory;
  const bool inclusive = input.profile.metrics[metric].kind == Metric::Kind::inclusive;
  for (uint32_t path = 0; path < values.size(); ++path) {
    values[path].resize(input.profile.locations.size());
    input.rows[metric]->read(inclusive ? input.profile.tree.wide_id(path) : path, values[path], memory);
  }
  return values;
}

// Returns the values of all metrics.
std::vector<std::vector<std::vector<double>>> all_values(const std::string& path) {
  const Input input(path);
  std::vector<std::vector<std::vector<double>>> values;
  for (size_t metric = 0; metric < input.profile.metrics.size(); ++metric) values.push_back(values_of(input, metric));
  return values;
}

TEST(CubeGenerate, InclusiveValuesAreAtLeastTheSumsOfTheChildren) {
  const impl::ScratchDirectory scratch;
  impl::for_seeds(5, [&](uint64_t seed) {
    cube::generate({.call_paths = 200, .processes = 3, .threads = 10, .metrics = 8, .seed = seed}, scratch / "a",
                   kSilent);
    const Input input(scratch / "a");
    ASSERT_EQ(input.profile.tree.size(), 200u);
    ASSERT_EQ(input.profile.locations.size(), 10u);
    ASSERT_EQ(input.profile.groups.size(), 3u);
    ASSERT_EQ(input.profile.metrics.size(), 8u);
    for (size_t metric = 0; metric < 8; ++metric) {
      ASSERT_TRUE(input.rows[metric]) << metric;
      if (input.profile.metrics[metric].kind != Metric::Kind::inclusive) continue;
      const std::vector<std::vector<double>> values = values_of(input, metric);
      for (uint32_t path = 0; path < values.size(); ++path) {
        for (size_t location = 0; location < values[path].size(); ++location) {
          double sum = 0;
          for (const uint32_t child : input.profile.tree[path].children) sum += values[child][location];
          ASSERT_GE(values[path][location], sum * (1 - 1e-12));
          ASSERT_GT(values[path][location], 0);
        }
      }
    }
  });
}

TEST(CubeGenerate, HasTheRegionsThatSpecificationsLookFor) {
  const impl::ScratchDirectory scratch;
  cube::generate({.call_paths = 500, .metrics = 1}, scratch / "a", kSilent);
  const Input input(scratch / "a");
  std::vector<std::string> paradigms;
  for (const CallPath& path : input.profile.tree.paths()) {
    paradigms.push_back(input.profile.regions[path.region].paradigm);
    if (path.parent >= 0) {
      const CallPath& parent = input.profile.tree[static_cast<size_t>(path.parent)];
      EXPECT_EQ(input.profile.regions[parent.region].paradigm, "user");
    }
  }
  for (const char* paradigm : {"user", "mpi", "openmp"}) {
    EXPECT_GT(std::count(paradigms.begin(), paradigms.end(), paradigm), 10) << paradigm;
  }
}

TEST(CubeGenerate, EveryFormHasTheSameValues) {
  const impl::ScratchDirectory scratch;
  const GeneratorOptions plain{.call_paths = 60, .processes = 2, .threads = 7, .metrics = 9, .seed = 5};
  cube::generate(plain, scratch / "plain", kSilent);
  const auto expected = all_values(scratch / "plain");
  for (unsigned form = 0; form < 8; ++form) {
    GeneratorOptions options = plain;
    options.big_endian = (form & 1) != 0;
    options.compress = (form & 2) != 0;
    options.dense = (form & 4) != 0;
    cube::generate(options, scratch / "form", kSilent);
    EXPECT_EQ(all_values(scratch / "form"), expected) << form;
    const Input input(scratch / "form");
    EXPECT_EQ(input.rows[0]->index().order, options.big_endian ? ByteOrder::big : ByteOrder::little);
    EXPECT_EQ(input.rows[0]->compressed(), options.compress);
  }
}

TEST(CubeGenerate, ASeedMakesTheSameBytes) {
  const impl::ScratchDirectory scratch;
  for (const char* name : {"one", "two"}) cube::generate({.seed = 7, .compress = true}, scratch / name, kSilent);
  cube::generate({.seed = 8, .compress = true}, scratch / "other", kSilent);
  EXPECT_EQ(read_file(scratch / "one"), read_file(scratch / "two"));
  EXPECT_NE(read_file(scratch / "one"), read_file(scratch / "other"));
}

// Checks that progress grows until all is done.
class Progress {
 public:
  std::function<void(uint64_t, uint64_t)> report() {
    return [this](uint64_t done, uint64_t all) {
      EXPECT_GT(done, done_);
      EXPECT_LE(done, all);
      done_ = done;
      all_ = all;
    };
  }
  bool complete() const { return all_ > 0 && done_ == all_; }

 private:
  uint64_t done_ = 0, all_ = 0;
};

TEST(CubeGenerate, ReportsProgressToTheEnd) {
  const impl::ScratchDirectory scratch;
  Progress generating, enlarging;
  cube::generate({.call_paths = 50, .metrics = 7}, scratch / "a", generating.report());
  EXPECT_TRUE(generating.complete());
  enlarge(scratch / "a", 3, scratch / "b", enlarging.report());
  EXPECT_TRUE(enlarging.complete());
}

TEST(CubeGenerate, ExtremesAreWritten) {
  const impl::ScratchDirectory scratch;
  cube::generate({.call_paths = 1, .processes = 9, .threads = 1, .metrics = 6}, scratch / "a", kSilent);
  EXPECT_EQ(Input(scratch / "a").profile.groups.size(), 1u);
  cube::generate({.call_paths = 10, .metrics = 0}, scratch / "b", kSilent);
  EXPECT_TRUE(Input(scratch / "b").profile.metrics.empty());
}

TEST(CubeGenerate, AFailureLeavesNothing) {
  const impl::ScratchDirectory scratch;
  EXPECT_ERROR(cube::generate({}, scratch / "none/a", kSilent), "none/a.partial: open: No such file");
  std::filesystem::create_directories(scratch / "folder/full");
  EXPECT_ERROR(cube::generate({}, scratch / "folder", kSilent), "folder: cannot be renamed");
  EXPECT_FALSE(std::filesystem::exists(scratch / "folder.partial"));
  EXPECT_THROW(cube::generate({}, scratch / "b", [](uint64_t, uint64_t) { throw Error("stop"); }), Error);
  EXPECT_FALSE(std::filesystem::exists(scratch / "b.partial"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "b"));
}

// ---- enlarge ------------------------------------------------------------------------------------------------

void expect_repeated(const std::string& from, const std::string& to, size_t copies) {
  const Input small(from), large(to);
  const size_t locations = small.profile.locations.size();
  ASSERT_EQ(large.profile.locations.size(), copies * locations);
  EXPECT_EQ(large.profile.groups.size(), copies * small.profile.groups.size());
  EXPECT_EQ(large.profile.nodes.size(), copies * small.profile.nodes.size());
  ASSERT_EQ(large.profile.tree.size(), small.profile.tree.size());
  for (size_t path = 0; path < small.profile.tree.size(); ++path) {
    EXPECT_EQ(large.profile.tree[path].parameters, small.profile.tree[path].parameters);
  }
  for (size_t metric = 0; metric < small.profile.metrics.size(); ++metric) {
    ASSERT_EQ(large.rows[metric] != nullptr, small.rows[metric] != nullptr);
    if (!small.rows[metric] || !small.rows[metric]->type().number) continue;
    const auto values = values_of(small, metric), many = values_of(large, metric);
    for (size_t path = 0; path < values.size(); ++path) {
      for (size_t at = 0; at < many[path].size(); ++at) ASSERT_EQ(many[path][at], values[path][at % locations]);
    }
  }
}

TEST(CubeEnlarge, RepeatsTheLocations) {
  const impl::ScratchDirectory scratch;
  cube::generate({.call_paths = 40, .processes = 2, .threads = 6, .metrics = 8, .big_endian = true, .compress = true},
                 scratch / "a", kSilent);
  enlarge(scratch / "a", 4, scratch / "b", kSilent);
  expect_repeated(scratch / "a", scratch / "b", 4);
}

TEST(CubeEnlarge, IdsMayHaveGaps) {
  const impl::ScratchDirectory scratch;
  Profile profile;
  profile.regions.resize(1);
  CallPath path;
  path.parameters = {{"name", "a b"}, {"number", "-1.5"}};
  profile.tree = CallTree({path});
  profile.nodes = {{3, -1, "machine", "machine"}};
  profile.groups = {{1, 0, "Rank 0", "process", 0}};
  profile.locations = {{0, 0, "t0", "thread", 0}, {2, 1, "t1", "thread", 0}, {5, 2, "t2", "thread", 0}};
  std::vector<Metric> metrics(1);
  metrics[0].unique_name = "time";
  metrics[0].data_type = "DOUBLE";
  const std::string row = bytes_of(1.0) + bytes_of(2.0) + bytes_of(3.0);
  write_file(scratch / "a", tar_of({{"0.data", data_of({row}, data_type("DOUBLE"), ByteOrder::little, false)},
                                    {"0.index", encode_index({ByteOrder::little, {0}})},
                                    {"anchor.xml", write_anchor(profile, metrics)}}));
  enlarge(scratch / "a", 3, scratch / "b", kSilent);
  expect_repeated(scratch / "a", scratch / "b", 3);
}

TEST(CubeEnlarge, RealProfiles) {
  const std::filesystem::path shared = CUBE_DATA;
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << shared << " is missing";
  const impl::ScratchDirectory scratch;
  for (const char* name : {"blast", "kripke", "time"}) {
    const std::string path = (shared / name / "profile.cubex").string();
    enlarge(path, 2, scratch / "b", kSilent);
    expect_repeated(path, scratch / "b", 2);
  }
}

}  // namespace
}  // namespace tailrace::cube
