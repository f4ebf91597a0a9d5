// Runs all tests of the executable in place `core` if TAILRACE_TEST_PLACE says so, with a separate runtime directory,
// which must be empty when the last server has ended.
#include <gtest/gtest.h>

#include "core_node.hpp"

namespace {

class CoreEnvironment final : public ::testing::Environment {
 public:
  void SetUp() override { node_ = new test::CoreNode; }
  // Only here: a test's child that exits must not remove the servers and the directory.
  void TearDown() override {
    node_->wait_end_of_servers();
    EXPECT_EQ(node_->leavings(), std::vector<std::string>());
    delete node_;
  }

 private:
  test::CoreNode* node_ = nullptr;
};

[[maybe_unused]] const auto* const place =
    test::in_place_core() ? ::testing::AddGlobalTestEnvironment(new CoreEnvironment) : nullptr;

}  // namespace
