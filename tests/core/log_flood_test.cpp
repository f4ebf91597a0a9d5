// The server's log stays small whatever clients and strangers make it log, and lines about an honest client remain.
//
// TAILRACE_LIES=… makes it longer.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "core_files.hpp"

namespace {

using test::CoreNode;
using test::Directory;
using test::OpenRun;
using test::OtherProcess;

constexpr size_t kMostLog = 80 << 10;  // bytes

int times() {
  const char* const text = std::getenv("TAILRACE_LIES");
  return text ? std::atoi(text) : 4000;
}

// Each flood by itself: what one does must not be bounded by another's.
class LogFlood : public testing::TestWithParam<const char*> {};

TEST_P(LogFlood, IsBounded) {
  const std::string kind = GetParam();
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.log = "{level: warning}";
  OpenRun first(config, directory, 0);
  ASSERT_TRUE(first.opened()) << first.error().message;

  config.budget = "1 MiB";
  config.shape = "[16, 64]";
  const Directory elsewhere("/dev/shm");
  const std::string file = elsewhere.path() / "flood.yaml";
  std::ofstream(file) << config.text();
  const auto flood = [&](int client, int count, const std::string& how) {
    return OtherProcess(FLOOD, {file, directory.path(), "run", std::to_string(client), std::to_string(count), how});
  };

  OtherProcess honest = flood(1, 1, "sits");
  char byte = 0;
  ASSERT_TRUE(honest.read_byte(byte));
  OtherProcess hostile = flood(100, kind == "goes" ? std::max(500, times() / 20) : times(), kind);
  EXPECT_EQ(hostile.wait_end(), 0);
  EXPECT_EQ(test::write_iteration(first, 0), TAILRACE_OK) << first.error().message;
  (void)honest.end(SIGKILL);
  EXPECT_EQ(first.close(), TAILRACE_OK);
  node.wait_end_of_servers();
  test::expect_exact(directory.path() / test::file_of(0, 0), 0);

  const std::string log = test::text_of(test::log_of(directory));
  EXPECT_LT(log.size(), kMostLog);
  EXPECT_NE(log.find("client 1 is lost"), std::string::npos) << "what happened to the honest client is not said";
  EXPECT_NE(log.find(" in all"), std::string::npos) << "how many messages were left out is not said";
  std::printf("%zu bytes of log\n", log.size());
}

INSTANTIATE_TEST_SUITE_P(, LogFlood, testing::Values("nonsense", "refused", "goes", "drops"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
