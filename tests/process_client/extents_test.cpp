// Lists of extents.
#include "process_client/bytes/extents.hpp"

#include <gtest/gtest.h>

namespace tailrace::process {
namespace {

TEST(Extents, JoinsWhatFollowsWithoutAGap) {
  std::vector<tailrace_extent> list;
  for (const tailrace_extent& extent : {tailrace_extent{10, 5}, {15, 1}, {17, 3}, {0, 17}}) append(list, extent);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].offset, 10u);
  EXPECT_EQ(list[0].length, 6u);
  EXPECT_EQ(list[1].offset, 17u);
  EXPECT_EQ(list[2].length, 17u);
  EXPECT_EQ(bytes_of(list), 26u);
}

TEST(Extents, HaveBoundsInAnyOrder) {
  const std::vector<tailrace_extent> list = {{20, 5}, {3, 2}, {8, 30}};
  EXPECT_EQ(bounds_of(list).offset, 3u);
  EXPECT_EQ(end_of(bounds_of(list)), 38u);
  EXPECT_EQ(bounds_of({}).length, 0u);
}

}  // namespace
}  // namespace tailrace::process
