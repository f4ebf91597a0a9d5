// Holes against a plain array of which each block sets its elements.
#include "format/plan/holes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "format/plan/fill_value.hpp"
#include "testing/hdf5_file.hpp"
#include "testing/sample_config.hpp"
#include "testing/scratch.hpp"
#include "testing/seeds.hpp"
#include "written_file.hpp"

namespace tailrace::impl {
namespace {

using Box = std::vector<uint64_t>;

// Calls `each` with the index of every element of the box in the whole.
template <class Each>
void elements_of(const Box& box, const std::vector<uint64_t>& whole, const Each& each) {
  const size_t rank = whole.size();
  std::vector<uint64_t> at(box.begin(), box.begin() + static_cast<std::ptrdiff_t>(rank));
  for (;;) {
    uint64_t index = 0;
    for (size_t axis = 0; axis < rank; ++axis) index = index * whole[axis] + at[axis];
    each(index);
    size_t axis = rank;
    while (axis > 0 && ++at[axis - 1] == box[axis - 1] + box[rank + axis - 1]) {
      at[axis - 1] = box[axis - 1];
      --axis;
    }
    if (axis == 0) return;
  }
}

TEST(Holes, AreWhatNoBlockCovers) {
  for_seeds(400, [](uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto up_to = [&random](uint64_t most) { return random() % (most + 1); };
    std::vector<uint64_t> whole;
    for (uint64_t rank = 1 + up_to(3); rank > 0; --rank) whole.push_back(1 + up_to(6));
    std::vector<Box> blocks;
    for (uint64_t count = up_to(12); count > 0; --count) {
      Box offset;
      Box shape;
      for (const uint64_t extent : whole) {
        offset.push_back(up_to(extent - 1));
        shape.push_back(1 + up_to(extent - offset.back() - 1));
      }
      offset.insert(offset.end(), shape.begin(), shape.end());
      blocks.push_back(std::move(offset));
    }
    uint64_t count = 1;
    for (const uint64_t extent : whole) count *= extent;
    std::vector<int> covered(count);
    for (const Box& block : blocks) elements_of(block, whole, [&](uint64_t index) { covered[index] = 1; });
    for (const Box& hole : holes_of(whole, blocks))
      elements_of(hole, whole, [&](uint64_t index) { ++covered[index]; });
    ASSERT_EQ(covered, std::vector<int>(count, 1)) << "each element is in a block, or in one hole";
  });
  EXPECT_TRUE(holes_of({3, 0}, {}).empty());
}

// Bricks of which one never comes, at the end of the file and elsewhere, in each type.
TEST(Holes, OfAMissingClientAreNotNumbers) {
  for (const ElementType type : {ElementType::float16, ElementType::float32, ElementType::float64,
                                 ElementType::long_double, ElementType::complex64, ElementType::int32}) {
    for (const bool is_missing : {true, false}) {
      for (int absent = 0; absent < 4; ++absent) {
        Config config = sample_config({"out"}, {{"a", type, {3, 5}}});
        config.storage.file_per = FilePer::job;
        config.layouts[0].global_shape = {6, 10};
        Hdf5Format format(config, os_files(), format_options());
        std::vector<std::byte> bytes;
        for (int client = 0; client < 4; ++client) {
          if (client == absent) continue;
          Layout layout = config.layouts[0];
          layout.offset = {client < 2 ? 0u : 3u, client % 2 == 0 ? 0u : 5u};
          const Block block{0, 7, client, std::make_shared<const Layout>(layout)};
          const Placement placed = format.place(block).value();
          for (const Extent& extent : placed.extents) {
            put(bytes, {extent.offset, std::vector<std::byte>(extent.length, std::byte{1})});
          }
        }
        if (is_missing) format.note_missing(7, {absent}, 0);
        const Result<PublicationPlan> plan = format.finish(7);
        ASSERT_TRUE(plan.ok());
        for (const PlannedWrite& write : writes_of(plan.value())) put(bytes, write);
        const auto file = Hdf5File::open(bytes);
        ASSERT_NE(file, nullptr);
        const auto whole = file->read(7, "a");
        ASSERT_TRUE(whole);
        const size_t size = size_of(type);
        ASSERT_EQ(whole->size(), 60 * size);
        for (size_t i = 0; i < 60; ++i) {
          const int of = 2 * (i >= 30) + (i % 10 >= 5);
          const std::byte* const element = whole->data() + i * size;
          if (of != absent) {
            ASSERT_EQ(element[0], std::byte{1}) << i;
            continue;
          }
          const bool is_zero =
              std::all_of(element, element + size, [](std::byte byte) { return byte == std::byte{0}; });
          ASSERT_EQ(is_zero, !is_missing || type == ElementType::int32) << i;
          double value = 0;
          if (type == ElementType::float64) std::memcpy(&value, element, sizeof value);
          ASSERT_EQ(std::isnan(value), is_missing && type == ElementType::float64) << i;
        }
      }
    }
  }
}

// Returns the dataset of 6 elements in a file to which one client of two has written the first three, each byte 1.
std::vector<std::byte> read_half_written(const Config& config, bool is_missing) {
  Hdf5Format format(config, os_files(), format_options());
  const Block block{0, 7, 0, std::make_shared<const Layout>(config.layouts[0])};
  const Placement placed = format.place(block).value();
  std::vector<std::byte> bytes;
  for (const Extent& extent : placed.extents) {
    put(bytes, {extent.offset, std::vector<std::byte>(extent.length, std::byte{1})});
  }
  if (is_missing) format.note_missing(7, {1}, 0);
  const Result<PublicationPlan> plan = format.finish(7);
  EXPECT_TRUE(plan.ok());
  for (const PlannedWrite& write : writes_of(plan.value())) put(bytes, write);
  const auto file = Hdf5File::open(bytes);
  EXPECT_NE(file, nullptr);
  return file->read(7, "a").value();
}

// One client of two writes. Its variable has the value whether the other is missing or wrote nothing.
TEST(Holes, HaveTheFillValueOfTheirVariable) {
  const std::pair<ElementType, Number> cases[] = {
      {ElementType::float16, -2.5},     {ElementType::float32, -9999.0}, {ElementType::float64, 1e300},
      {ElementType::long_double, 0.25}, {ElementType::complex64, 3.0},   {ElementType::boolean, 1},
      {ElementType::int8, -7},          {ElementType::int64, -7},        {ElementType::uint16, 65535}};
  for (const auto& [type, value] : cases) {
    for (const bool is_missing : {true, false}) {
      Config config = sample_config({"out"}, {{"a", type, {3}}});
      config.storage.file_per = FilePer::job;
      config.layouts[0].global_shape = {6};
      config.variables[0].fill_value = value;
      const std::vector<std::byte> element = element_of(type, value);
      std::vector<std::byte> expected(3 * element.size(), std::byte{1});
      for (int i = 0; i < 3; ++i) expected.insert(expected.end(), element.begin(), element.end());
      EXPECT_EQ(read_half_written(config, is_missing), expected) << name_of(type);
    }
  }
}

// No other file has elements that the file of the only node lacks.
TEST(Holes, OfTheOnlyNodeHaveTheFillValueToo) {
  for (const int nodes : {1, 2}) {
    Config config = sample_config({"out"}, {{"a", ElementType::uint8, {3}}});
    config.storage.file_per = FilePer::node;
    config.place.nodes = nodes;
    config.layouts[0].global_shape = {6};
    config.variables[0].fill_value = 7;
    const std::byte others{static_cast<unsigned char>(nodes == 1 ? 7 : 0)};
    const std::byte one{1};
    EXPECT_EQ(read_half_written(config, false), (std::vector<std::byte>{one, one, one, others, others, others}));
    EXPECT_EQ(read_half_written(config, true).back(), std::byte{7});
  }
}

}  // namespace
}  // namespace tailrace::impl
