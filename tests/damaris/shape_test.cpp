// The shape of blocks: with ghosts, and as parameters change.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "damaris/output/block_shape.hpp"
#include "damaris/output/configuration.hpp"
#include "tests/damaris/descriptions.hpp"

namespace tailrace::damaris {
namespace {

BlockShape shape(const std::string& layout) {
  const Model model = read(description("<parameter name=\"n\" type=\"int\" value=\"0\"/>" + layout));
  return shape_of(model.layouts[0], at_start(model));
}

TEST(BlockShape, CutsGhostsInEachDimension) {
  const BlockShape block =
      shape("<layout name=\"l\" type=\"int\" dimensions=\"4,5,3\" global=\"8,8,8\" ghosts=\"1:2,0:1,1:0\"/>");
  EXPECT_EQ(block.inner, (std::vector<uint64_t>{1, 4, 2}));
  EXPECT_EQ(block.inside_in_memory(), std::make_pair(uint64_t{16}, uint64_t{27}));
  std::vector<int> from(4 * 5 * 3);
  std::iota(from.begin(), from.end(), 0);
  std::vector<int> to(block.elements_inside());
  copy_inside(block, sizeof(int), from.data(), to.data());
  EXPECT_EQ(to, (std::vector<int>{16, 17, 19, 20, 22, 23, 25, 26}));
}

TEST(BlockShape, MayBeEmpty) {
  const BlockShape block = shape("<layout name=\"l\" type=\"int\" dimensions=\"n,2\" ghosts=\"0,0\"/>");
  EXPECT_EQ(block.elements_in_memory(), 0U);
  EXPECT_EQ(block.inside_in_memory(), std::make_pair(uint64_t{0}, uint64_t{0}));
  copy_inside(block, sizeof(int), nullptr, nullptr);
}

TEST(BlockShape, RefusesImpossibleNumbers) {
  for (const char* const rest : {"dimensions=\"n-1\"", "dimensions=\"2/n\"", "dimensions=\"2\" ghosts=\"2:1\"",
                                 "dimensions=\"4000000000,4000000000\""}) {
    EXPECT_THROW(shape(std::string("<layout name=\"l\" type=\"int\" ") + rest + "/>"), ExpressionError) << rest;
  }
}

}  // namespace
}  // namespace tailrace::damaris
