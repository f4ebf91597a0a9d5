// Iterations that a client has left without ending them, when the engine has little room.
#include <gtest/gtest.h>

#include "testing/blocks.hpp"
#include "testing/node_rig.hpp"

namespace tailrace::impl {
namespace {

// Found by the simulator (core, seed 4180218766): each file was closed at once, with or without room.
TEST(Abandon, MoreIterationsThanTheEngineHasRoomFor) {
  EngineOptions engine;
  engine.max_pending = FileGroup::kRequestsAtOnce + 1;
  NodeRig node(small_config(64), {.engine = engine});
  constexpr int64_t kIterations = 3 * FileGroup::kRequestsAtOnce;
  for (int64_t iteration = 0; iteration < kIterations; ++iteration) {
    EXPECT_OK(node.client().write("a", iteration, page(1).data()));
  }
  node.lose();
  EXPECT_TRUE(node.gone());
  EXPECT_EQ(node.written(), static_cast<uint64_t>(kIterations));
  EXPECT_FALSE(node.published(0));
}

}  // namespace
}  // namespace tailrace::impl
