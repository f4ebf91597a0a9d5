// A failed start of a server leaves nothing behind.
#include <gtest/gtest.h>

#include "core_files.hpp"

namespace {

using test::CoreNode;
using test::Directory;
using test::OpenRun;

TEST(RefusedStart, OfAProgramThatEndsAtOnceLeavesNothing) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.place = "{kind: core, cpus: none, server: /bin/false}";
  const OpenRun run(config, directory, 0);
  ASSERT_FALSE(run.opened());
  EXPECT_NE(std::string(run.error().message).find("ended before it was ready"), std::string::npos)
      << run.error().message;
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// Another job writes the files that this client's would be.
TEST(RefusedStart, OfTheFirstClientLeavesNothing) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  const test::Config config = test::core_config();
  test::Config in_process = config;
  in_process.place = "{kind: thread, cpus: none}";
  OpenRun first(in_process, directory, 0);
  ASSERT_TRUE(first.opened()) << first.error().message;
  {
    const OpenRun second(config, directory, 0);
    EXPECT_FALSE(second.opened());
  }
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
  EXPECT_EQ(first.close(), TAILRACE_OK);
}

}  // namespace
