// A client gone wild beside two that are not (promise 7): the server throws it out, lives, and serves the others as
// if nothing were.
//
// TAILRACE_SEED=… repeats what is random here, TAILRACE_LIES=… makes it longer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "core_files.hpp"

namespace {

using test::CoreNode;
using test::Directory;
using test::OpenRun;
using test::OtherProcess;

constexpr uint64_t kLies = 50;  // an attachment

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Hostile, ClientHarmsNobodyElse) {
  const uint64_t seed = from_environment("TAILRACE_SEED", std::random_device{}());
  const uint64_t times = from_environment("TAILRACE_LIES", 20000) / kLies;
  SCOPED_TRACE("repeat with TAILRACE_SEED=" + std::to_string(seed));
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.place = "{kind: core, cpus: none, on_server_loss: fail}";
  config.log = "{level: warning}";  // of the server, into a file in `directory`
  OpenRun first(config, directory, 0);
  OpenRun second(config, directory, 1);
  ASSERT_TRUE(first.opened()) << first.error().message;
  ASSERT_TRUE(second.opened()) << second.error().message;
  const std::vector<pid_t> servers = node.servers();
  ASSERT_EQ(servers.size(), 1u);

  config.budget = "1 MiB";
  config.shape = "[16, 64]";
  const Directory elsewhere("/dev/shm");
  const std::string file = elsewhere.path() / "hostile.yaml";
  std::ofstream(file) << config.text();
  OtherProcess hostile(HOSTILE, {file, directory.path(), "run", "100", std::to_string(times), std::to_string(kLies),
                                 std::to_string(seed)});
  int64_t iteration = 0;
  uint64_t attached = 0;
  for (char byte = 0; hostile.read_byte(byte); ++attached) {
    if (attached % 16 != 0) continue;
    OpenRun& run = iteration % 2 == 0 ? first : second;
    ASSERT_EQ(test::write_iteration(run, iteration), TAILRACE_OK) << run.error().message;
    ASSERT_EQ(tailrace_flush(run), TAILRACE_OK) << run.error().message;
    ++iteration;
  }
  EXPECT_EQ(hostile.wait_end(), 0);
  EXPECT_EQ(attached, times);
  EXPECT_EQ(node.servers(), servers) << "the server has died";
  EXPECT_EQ(first.close(), TAILRACE_OK);
  EXPECT_EQ(second.close(), TAILRACE_OK);
  for (int64_t of = 0; of < iteration; ++of) {
    test::expect_exact(directory.path() / test::file_of(of % 2 == 0 ? 0 : 1, of), of);
  }
  const std::string log = test::text_of(directory.path() / "run_core0.log");
  for (const char* const noticed : {"is refused", "is lost: it sent", "is lost: its ring"}) {
    EXPECT_NE(log.find(noticed), std::string::npos) << "no lie of the kind '" << noticed << "' was noticed";
  }
  // The server ends, so nothing of the hostile one is thought to be under way.
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
  std::printf("%llu attachments of %llu lies from seed %llu; %lld honest iterations\n",
              static_cast<unsigned long long>(attached), static_cast<unsigned long long>(kLies),
              static_cast<unsigned long long>(seed), static_cast<long long>(iteration));
}

}  // namespace
