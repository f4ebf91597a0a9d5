// A misbehaving client beside two correct ones (promise 7): the server throws it out, lives, and serves the others as
// usual.
//
// TAILRACE_SEED=… repeats the random parts, TAILRACE_LIES=… makes it longer.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <random>

#include "core_files.hpp"
#include "server_loss.hpp"

namespace {

using test::CoreNode;
using test::Directory;
using test::OpenRun;
using test::OtherProcess;

constexpr uint64_t kLies = 50;  // an attachment

// The hostile client removes its raw files, too: look while it is at work.
bool holds_raw_file(const test::fs::path& directory) {
  for (const char* const name : {"hostile0.raw", "hostile1.raw", "hostile2.raw"}) {
    if (test::fs::exists(directory / name)) return true;
  }
  return false;
}

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
  bool wrote_raw = false;
  for (char byte = 0; hostile.read_byte(byte); ++attached) {
    wrote_raw = wrote_raw || holds_raw_file(directory.path());
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
  EXPECT_TRUE(wrote_raw) << "no raw file was put to the test";
  EXPECT_FALSE(test::fs::exists(directory.path().parent_path() / "escaped.raw"));
  for (int64_t of = 0; of < iteration; ++of) {
    test::expect_exact(directory.path() / test::file_of(of % 2 == 0 ? 0 : 1, of), of);
  }
  const std::string log = test::text_of(test::log_of(directory));
  for (const char* const noticed :
       {"is refused", "is lost: it sent", "is lost: its ring", "is lost: its shared memory"}) {
    EXPECT_NE(log.find(noticed), std::string::npos) << "no lie of the kind '" << noticed << "' was noticed";
  }
  // When the server ends, no verb of the hostile client counts as under way.
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
  std::printf("%llu attachments of %llu lies from seed %llu; %lld honest iterations\n",
              static_cast<unsigned long long>(attached), static_cast<unsigned long long>(kLies),
              static_cast<unsigned long long>(seed), static_cast<long long>(iteration));
}

// More connections than the server keeps, and for longer: another client comes and writes meanwhile, and the server
// can end.
// They came again and again, since the server closed connections whose greeting it had not read yet.
TEST(Hostile, MoreGreetingsThanConnectionsAreAllAnswered) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  const std::string file = directory.path() / "many.yaml";
  std::ofstream(file) << config.text();
  OpenRun first(config, directory, 0);
  ASSERT_TRUE(first.opened()) << first.error().message;
  test::stop_server(node);
  OtherProcess many(HOSTILE, {file, directory.path(), "run", "100", "600", "0", "0", "greet"});
  char byte = 0;
  ASSERT_TRUE(many.read_byte(byte));
  kill(node.servers().at(0), SIGCONT);
  EXPECT_EQ(many.wait_end(), 0) << "some were closed without an answer";
  EXPECT_EQ(first.close(), TAILRACE_OK);
  node.wait_end_of_servers();
}

// The server tried again and again.
TEST(Hostile, TheServerSleepsWhileItLacksDescriptors) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer of undefined behaviour looks at memory by a pipe, and so needs descriptors itself";
#endif
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  const std::string file = directory.path() / "many.yaml";
  std::ofstream(file) << config.text();
  OpenRun first(config, directory, 0);
  ASSERT_TRUE(first.opened()) << first.error().message;
  const pid_t server = node.servers().at(0);
  rlimit before{};
  ASSERT_EQ(prlimit(server, RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit few{3, before.rlim_max};
  ASSERT_EQ(prlimit(server, RLIMIT_NOFILE, &few, nullptr), 0);
  OtherProcess many(HOSTILE, {file, directory.path(), "run", "100", "10", "0", "0", "greet"});
  char byte = 0;
  ASSERT_TRUE(many.read_byte(byte));
  bool sleeps = false;
  for (int look = 0; look < 100'000 && !sleeps; ++look) {
    sleeps = test::text_of("/proc/" + std::to_string(server) + "/status").find("State:\tS") != std::string::npos;
  }
  EXPECT_TRUE(sleeps) << "while connections wait that it cannot accept";
  ASSERT_EQ(prlimit(server, RLIMIT_NOFILE, &before, nullptr), 0);
  EXPECT_EQ(many.wait_end(), 0);
  EXPECT_EQ(first.close(), TAILRACE_OK);
  node.wait_end_of_servers();
}

TEST(Hostile, ConnectionsThatNeverGreetAreClosed) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.log = "{level: warning}";
  const std::string file = directory.path() / "silent.yaml";
  std::ofstream(file) << config.text();
  OpenRun first(config, directory, 0);
  ASSERT_TRUE(first.opened()) << first.error().message;
  OtherProcess silent(HOSTILE, {file, directory.path(), "run", "100", "400", "0", "0", "silent"});
  char byte = 0;
  ASSERT_TRUE(silent.read_byte(byte));
  OpenRun second(config, directory, 1);
  ASSERT_TRUE(second.opened()) << second.error().message;
  ASSERT_EQ(test::write_iteration(second, 0), TAILRACE_OK) << second.error().message;
  EXPECT_EQ(second.close(), TAILRACE_OK);
  EXPECT_EQ(first.close(), TAILRACE_OK);
  EXPECT_EQ(silent.wait_end(), 0) << "some were left open";
  node.wait_end_of_servers();
  test::expect_exact(directory.path() / test::file_of(1, 0), 0);
  EXPECT_NE(test::text_of(test::log_of(directory)).find("not said hello"), std::string::npos);
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// Blocks that it had written before are in the files, or are not published: no reader finds zeros instead of its
// bytes.
TEST(Hostile, ClientThatCutsItsMemoryShortPublishesNothingWrong) {
  const uint64_t seed = from_environment("TAILRACE_SEED", std::random_device{}());
  SCOPED_TRACE("repeat with TAILRACE_SEED=" + std::to_string(seed));
  constexpr int kTimes = 60;
  constexpr int kIterations = 4;
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.place = "{kind: core, cpus: none, on_server_loss: fail}";
  OpenRun honest(config, directory, 0);
  ASSERT_TRUE(honest.opened()) << honest.error().message;
  config.type = "float32";  // of which 0x3c3c3c3c, as a 16-bit float, is 0x21e2
  std::string text = config.text();
  for (const char* const variable : {"a", "b", "c"}) {
    const std::string plain = std::string("  ") + variable + ": {layout: grid";
    text.replace(text.find(plain), plain.size(), plain + ", precision: float16");
  }
  const Directory elsewhere("/dev/shm");
  const std::string file = elsewhere.path() / "cut.yaml";
  std::ofstream(file) << text;
  OtherProcess hostile(HOSTILE, {file, directory.path(), "run", "100", std::to_string(kTimes),
                                 std::to_string(kIterations), std::to_string(seed), "cut"});
  for (char byte = 0; hostile.read_byte(byte);) {
  }
  EXPECT_EQ(hostile.wait_end(), 0);
  ASSERT_EQ(test::write_iteration(honest, 0), TAILRACE_OK) << honest.error().message;
  EXPECT_EQ(honest.close(), TAILRACE_OK);
  node.wait_end_of_servers();
  test::expect_exact(directory.path() / test::file_of(0, 0), 0);
  int published = 0;
  for (int client = 100; client < 100 + kTimes; ++client) {
    for (int64_t iteration = 0; iteration < kIterations; ++iteration) {
      const test::fs::path path = directory.path() / test::file_of(client, iteration);
      if (!test::fs::exists(path)) continue;
      ++published;
      const test::Hdf5File hdf5(path);
      for (const char* const variable : test::kVariables) {
        const std::vector<std::byte> bytes = hdf5.bytes(iteration, variable);
        ASSERT_FALSE(bytes.empty()) << path << " " << variable;
        const bool rounded = hdf5.has_type(iteration, variable, H5T_IEEE_F16LE);
        for (size_t at = 0; at < bytes.size(); ++at) {
          const std::byte expected = !rounded ? std::byte{0x3c} : at % 2 == 0 ? std::byte{0xe2} : std::byte{0x21};
          ASSERT_EQ(bytes[at], expected) << path << " " << variable;
        }
      }
    }
  }
  EXPECT_GT(published, 0) << "nothing was put to the test";
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
  std::printf("%d iterations published; seed %llu\n", published, static_cast<unsigned long long>(seed));
}

// The process that runs actions reads the memory, too, and may die of it. The clients are told, as for any crash of
// an action; all blocks are stored, and the server continues.
TEST(Hostile, ClientThatCutsItsMemoryShortUnderAnActionLosesNobodyABlock) {
  const uint64_t seed = from_environment("TAILRACE_SEED", std::random_device{}());
  SCOPED_TRACE("repeat with TAILRACE_SEED=" + std::to_string(seed));
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.place = "{kind: core, cpus: none, on_server_loss: fail}";
  config.measurements = "{}\nactions: [{on: end_iteration, run: statistics}, {on: end_iteration, run: store}]";
  OpenRun honest(config, directory, 0);
  ASSERT_TRUE(honest.opened()) << honest.error().message;
  const Directory elsewhere("/dev/shm");
  const std::string file = elsewhere.path() / "cut.yaml";
  std::ofstream(file) << config.text();
  OtherProcess hostile(HOSTILE, {file, directory.path(), "run", "100", "40", "4", std::to_string(seed), "cut"});
  int64_t iterations = 0;
  bool told = false;
  for (char byte = 0; hostile.read_byte(byte); ++iterations) {
    const tailrace_status wrote = test::write_iteration(honest, iterations);
    // A call that reports the action's failure was carried out.
    EXPECT_TRUE(wrote == TAILRACE_OK || honest.error().status == TAILRACE_ACTION_FAILED) << honest.error().message;
    told = told || wrote != TAILRACE_OK;
    if (wrote != TAILRACE_OK) break;
  }
  for (char byte = 0; hostile.read_byte(byte);) {
  }
  EXPECT_EQ(hostile.wait_end(), 0) << "the server has gone";
  const tailrace_status closed = honest.close();  // may be the first to report it
  std::printf("told of an action: %s\n", told || closed != TAILRACE_OK ? "yes" : "no");
  node.wait_end_of_servers();
  for (int64_t of = 0; of < iterations; ++of) test::expect_exact(directory.path() / test::file_of(0, of), of);
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

}  // namespace
