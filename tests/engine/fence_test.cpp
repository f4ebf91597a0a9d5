// Requests that may not begin any more end as withdrawn; others, and their file, go on as if these had never been
// made.
#include <gtest/gtest.h>

#include <string>

#include "engine_rig.hpp"

namespace tailrace::impl {
namespace {

class Fence : public ::testing::Test {
 protected:
  Fence() {
    rig_.engine.fence_by([this](uint32_t client) { return client != fenced_; });
  }

  EngineRig rig_;
  uint32_t fenced_ = 0;
};

TEST_F(Fence, WhatWasMergedWithThemIsCarriedOut) {
  const FileId file = rig_.create("f", 9);
  std::string one = "one";
  std::string two = "two";
  std::string three = "six";
  const uint64_t first = rig_.submit(Operation::write, file, {piece_of(0, one)}, false, 1);
  const uint64_t second = rig_.submit(Operation::write, file, {piece_of(3, two)}, false, 2);
  const uint64_t third = rig_.submit(Operation::write, file, {piece_of(6, three)}, false, 3);
  fenced_ = 2;
  rig_.run_until_idle();
  EXPECT_TRUE(rig_.ends.of(first).ok());
  EXPECT_TRUE(is_withdrawn(rig_.ends.of(second)));
  EXPECT_TRUE(rig_.ends.of(third).ok());
  EXPECT_EQ(rig_.text("f.part"), std::string("one") + std::string(3, '\0') + "six");
  EXPECT_FALSE(rig_.engine.has_failed(file));
  const uint64_t publish = rig_.submit(Operation::publish, file);
  rig_.run_until_idle();
  EXPECT_TRUE(rig_.ends.of(publish).ok());
}

TEST_F(Fence, ReadsOfOthersThatWaitedForThemAreCarriedOut) {
  const FileId file = rig_.create("f", 3);
  std::string old = "old";
  std::string fresh = "new";
  std::string found = "...";
  rig_.submit(Operation::write, file, {piece_of(0, old)}, false, 1);
  rig_.run_until_idle();
  const uint64_t write = rig_.submit(Operation::write, file, {piece_of(0, fresh)}, false, 2);
  const uint64_t read = rig_.submit(Operation::read, file, {piece_of(0, found)}, false, 1);
  fenced_ = 2;
  rig_.run_until_idle();
  EXPECT_TRUE(is_withdrawn(rig_.ends.of(write)));
  EXPECT_TRUE(rig_.ends.of(read).ok());
  EXPECT_EQ(found, "old");
  rig_.submit(Operation::close, file);
  rig_.run_until_idle();
}

TEST_F(Fence, TruncationsAndSyncsAreWithdrawn) {
  const FileId file = rig_.create("f", 3);
  Request truncate;
  truncate.operation = Operation::truncate;
  truncate.file = file;
  truncate.client = fenced_ = 4;
  const uint64_t cut = rig_.submit(std::move(truncate));
  const uint64_t sync = rig_.submit(Operation::sync, file, {}, false, 4);
  rig_.run_until_idle();
  EXPECT_TRUE(is_withdrawn(rig_.ends.of(cut)));
  EXPECT_TRUE(is_withdrawn(rig_.ends.of(sync)));
  EXPECT_EQ(rig_.text("f.part").size(), 3u);
  const uint64_t other = rig_.submit(Operation::sync, file, {}, false, 5);
  rig_.submit(Operation::close, file);
  rig_.run_until_idle();
  EXPECT_TRUE(rig_.ends.of(other).ok());
}

}  // namespace
}  // namespace tailrace::impl
