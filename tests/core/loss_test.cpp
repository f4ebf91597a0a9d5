// The server is gone, or does not answer (promise 5): the clients' errors, and the fate of their data.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <memory>

#include "core_files.hpp"

namespace {

using test::CoreNode;
using test::Directory;
using test::expect_exact;
using test::file_of;
using test::OpenRun;
using test::OtherProcess;

const std::string kOk = "0";
const std::string kLost = std::to_string(static_cast<int>(TAILRACE_SERVER_LOST));

// Sets an environment variable for as long as it lives; processes started meanwhile have it.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* const name_;
};

pid_t only_server(const CoreNode& node) {
  const std::vector<pid_t> servers = node.servers();
  EXPECT_EQ(servers.size(), 1u);
  return servers.empty() ? -1 : servers[0];
}

// A stopped server answers nobody, so a client that waits for it waits until it is killed or continued.
void stop(pid_t process) {
  ASSERT_GT(process, 1);  // -1 would be every process of this user
  kill(process, SIGSTOP);
  for (std::string state; state.find("State:\tT") == std::string::npos;) {
    state = test::text_of("/proc/" + std::to_string(process) + "/status");
    ASSERT_FALSE(state.empty());
  }
}

void kill_server(const CoreNode& node) {
  ASSERT_GE(node.kill_servers(SIGKILL), 1);
  node.wait_end_of_servers();
}

TEST(ServerLoss, IsToldToEveryClientThatWaits) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  const Environment place("TAILRACE_TEST_PLACE", "core, on_server_loss: fail");
  std::vector<std::unique_ptr<OtherProcess>> clients;
  for (int client = 0; client < 3; ++client) {
    clients.push_back(std::make_unique<OtherProcess>(TEST_OTHER_PROCESS));
    ASSERT_EQ(clients.back()->ask("open " + directory.path().string() + " run " + std::to_string(client)), kOk);
  }
  stop(only_server(node));
  for (const auto& client : clients) {
    ASSERT_EQ(client->ask("write 0"), kOk);
    ASSERT_EQ(client->ask("end 0"), kOk);
    client->tell("flush");
  }
  kill_server(node);
  for (const auto& client : clients) {
    EXPECT_EQ(client->answer(), kLost);
    EXPECT_EQ(client->ask("write 1"), kLost) << "a later call must not pretend";
    EXPECT_EQ(client->ask("flush"), kLost);
    EXPECT_NE(client->ask("close"), kOk);
    client->tell("quit");
    client->wait_end();
  }
  EXPECT_TRUE(node.servers().empty()) << "nobody may have started another one";
  EXPECT_EQ(node.drain(), std::vector<int>());
  for (int client = 0; client < 3; ++client) test::expect_exact(directory.path() / file_of(client, 0), 0);
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// Nobody is left who could be told, so the server that continues for the dead says it itself.
TEST(ServerLoss, ThatNobodyCanRepairIsToldByDrain) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  {
    const Environment place("TAILRACE_TEST_PLACE", "core");
    OtherProcess client(TEST_OTHER_PROCESS);
    ASSERT_EQ(client.ask("open " + directory.path().string() + " run 0"), kOk);
    stop(only_server(node));
    for (const char* call : {"write 0", "end 0", "write 1", "end 1"}) ASSERT_EQ(client.ask(call), kOk);
    client.end(SIGKILL);
  }
  kill_server(node);
  test::fs::create_directory(directory.path() / (file_of(0, 0) + ".part"));
  EXPECT_EQ(node.drain().size(), 1u) << "iteration 0 cannot be written";
  EXPECT_FALSE(test::fs::exists(directory.path() / file_of(0, 0)));
  test::expect_exact(directory.path() / file_of(0, 1), 1);
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

TEST(ServerLoss, OfAProgramThatHasVanishedIsAClearError) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  const Directory elsewhere;
  const std::string program = elsewhere.path() / "tailrace-core";
  test::fs::copy_file(CORE_SERVER, program);
  const Environment server("TAILRACE_SERVER", program);
  OpenRun run(test::core_config(), directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  test::fs::remove(program);
  kill_server(node);
  ASSERT_EQ(test::write_iteration(run, 0), TAILRACE_OK);
  EXPECT_EQ(tailrace_flush(run), TAILRACE_SERVER_LOST);
  EXPECT_TRUE(run.error().says("has died")) << run.error().message;
  EXPECT_TRUE(run.error().says(program)) << run.error().message;
  EXPECT_NE(run.close(), TAILRACE_OK);
  EXPECT_EQ(node.drain(), std::vector<int>());
  test::expect_exact(directory.path() / file_of(0, 0), 0);
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

TEST(ServerLoss, BeforeCloseIsNoLoss) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun run(test::core_config(), directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  ASSERT_EQ(test::write_iteration(run, 0), TAILRACE_OK);
  kill_server(node);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  test::expect_exact(directory.path() / file_of(0, 0), 0);
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// Its shared memory has no more room for the ledger, and the next server cannot know what it had accepted.
TEST(ServerLoss, AfterALedgerThatCouldNotBeWrittenIsTold) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.shape = "[1, 8]";
  OpenRun run(config, directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  ASSERT_EQ(test::write_iteration(run, 0), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK) << run.error().message;
  const rlimit limit{100'000, RLIM_INFINITY};  // 512 lines have 65 536 bytes
  ASSERT_EQ(prlimit(only_server(node), RLIMIT_FSIZE, &limit, nullptr), 0);
  const double values[8] = {};
  for (int call = 0; call < 600; ++call) ASSERT_EQ(tailrace_signal(run, "storm", 1), TAILRACE_OK);
  ASSERT_EQ(tailrace_write(run, "a", 1, values), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK) << run.error().message;
  kill_server(node);
  EXPECT_EQ(tailrace_end_iteration(run, 1), TAILRACE_OK);
  EXPECT_EQ(tailrace_flush(run), TAILRACE_SERVER_LOST);
  EXPECT_TRUE(run.error().says("could not record")) << run.error().message;
  EXPECT_EQ(tailrace_write(run, "a", 2, values), TAILRACE_SERVER_LOST);
  EXPECT_NE(run.close(), TAILRACE_OK);
  node.wait_end_of_servers();
  EXPECT_TRUE(test::fs::exists(directory.path() / file_of(0, 0)));
  EXPECT_FALSE(test::fs::exists(directory.path() / file_of(0, 1)));
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
  OpenRun next(config, directory, 1);
  EXPECT_TRUE(next.opened()) << next.error().message;
}

// The next server does not wait for a client that has given up, which may come again.
TEST(ServerLoss, AfterTheClientHasLeftIsNoLoss) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.place = "{kind: core, cpus: none, patience: 1}";
  for (int64_t iteration = 0; iteration < 2; ++iteration) {
    OpenRun run(config, directory);
    ASSERT_TRUE(run.opened()) << run.error().message;
    stop(only_server(node));
    ASSERT_EQ(test::write_iteration(run, iteration), TAILRACE_OK);
    EXPECT_NE(run.close(), TAILRACE_OK);  // it reports that nothing of it may be written
    kill_server(node);
  }
  EXPECT_EQ(node.drain(), std::vector<int>());
  for (int64_t iteration = 0; iteration < 2; ++iteration) {
    test::expect_exact(directory.path() / file_of(0, iteration), iteration);
  }
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// The client had no reason to look for its server, which another client had replaced.
TEST(ServerLoss, WhoNeverNoticesItMayLeaveAndComeAgain) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun first(test::core_config(), directory, 0);
  OpenRun second(test::core_config(), directory, 1);
  ASSERT_TRUE(first.opened() && second.opened());
  ASSERT_EQ(test::write_iteration(second, 0, 1), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(second), TAILRACE_OK);
  kill_server(node);
  ASSERT_EQ(test::write_iteration(first, 0, 0), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(first), TAILRACE_OK) << first.error().message;
  EXPECT_EQ(second.close(), TAILRACE_OK);
  {
    OpenRun again(test::core_config(), directory, 1);
    ASSERT_TRUE(again.opened()) << again.error().message;
    ASSERT_EQ(test::write_iteration(again, 1, 1), TAILRACE_OK);
  }
  EXPECT_EQ(first.close(), TAILRACE_OK);
  node.wait_end_of_servers();
  test::expect_exact(directory.path() / file_of(0, 0), 0, 0);
  for (int64_t iteration = 0; iteration < 2; ++iteration) {
    test::expect_exact(directory.path() / file_of(1, iteration), iteration, 1);
  }
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// ---- on_server_loss: sync -----------------------------------------------------------------------------------

const char* const kSyncPlace = "core, on_server_loss: sync";

test::Config sync_config() {
  test::Config config = test::core_config();
  config.place = std::string("{kind: ") + kSyncPlace + ", cpus: none}";
  return config;
}

std::string status_of(const CoreNode& node) {
  OtherProcess program(CORE_SERVER, {"--root", node.root(), "--status"});
  std::string text;
  for (char byte = 0; program.read_byte(byte);) text += byte;
  EXPECT_EQ(program.wait_end(), 0);
  return text;
}

TEST(ServerLossSync, EachClientGoesOnAloneAndWritesBeforeItGoesOn) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun first(sync_config(), directory, 0);
  OpenRun second(sync_config(), directory, 1);
  ASSERT_TRUE(first.opened() && second.opened());
  ASSERT_EQ(test::write_iteration(first, 0, 0), TAILRACE_OK);
  ASSERT_EQ(test::write_iteration(second, 0, 1), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(first), TAILRACE_OK);
  stop(only_server(node));
  ASSERT_EQ(test::write_iteration(first, 1, 0), TAILRACE_OK);
  ASSERT_EQ(test::write_blocks(first, 2, 0), TAILRACE_OK);
  ASSERT_EQ(test::write_iteration(second, 1, 1), TAILRACE_OK);
  kill_server(node);
  EXPECT_EQ(tailrace_flush(first), TAILRACE_OK) << first.error().message;
  EXPECT_EQ(tailrace_flush(second), TAILRACE_OK) << second.error().message;
  EXPECT_NE(status_of(node).find("\"serves_itself\": true"), std::string::npos);
  // From here on nothing waits to be flushed.
  for (int64_t iteration = 2; iteration < 20; ++iteration) {
    const tailrace_status wrote = iteration > 2 ? test::write_blocks(first, iteration, 0) : TAILRACE_OK;
    EXPECT_EQ(wrote, TAILRACE_OK) << first.error().message;
    EXPECT_EQ(tailrace_end_iteration(first, iteration), TAILRACE_OK) << first.error().message;
    expect_exact(directory.path() / file_of(0, iteration), iteration, 0);
    EXPECT_EQ(test::write_iteration(second, iteration, 1), TAILRACE_OK) << second.error().message;
    expect_exact(directory.path() / file_of(1, iteration), iteration, 1);
  }
  std::vector<double> back(test::block(0, 0).size());
  EXPECT_EQ(tailrace_read(first, "c", 1, back.data()), TAILRACE_OK) << first.error().message;
  EXPECT_EQ(back, test::block(1, 2));
  EXPECT_TRUE(node.servers().empty()) << "nobody may have started another one";
  EXPECT_EQ(first.close(), TAILRACE_OK);
  EXPECT_EQ(second.close(), TAILRACE_OK);
  for (const int client : {0, 1}) {
    for (const int64_t iteration : {0, 1}) {
      expect_exact(directory.path() / file_of(client, iteration), iteration, client);
    }
  }
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
  EXPECT_FALSE(test::fs::exists(directory.path() / ".run_c0.lock"));
}

// Its calls wait for the end of each verb, so nothing may be held back until there is more to merge.
TEST(ServerLossSync, WritesThatWouldGatherDoNotHoldUpWhoGoesOnAlone) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = sync_config();
  config.merge = "{by: count}";
  OpenRun run(config, directory, 0);
  ASSERT_TRUE(run.opened()) << run.error().message;
  ASSERT_EQ(test::write_iteration(run, 0), TAILRACE_OK);
  kill_server(node);
  for (int64_t iteration = 1; iteration < 4; ++iteration) {
    EXPECT_EQ(test::write_iteration(run, iteration), TAILRACE_OK) << run.error().message;
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
  for (int64_t iteration = 0; iteration < 4; ++iteration) {
    test::expect_exact(directory.path() / file_of(0, iteration), iteration);
  }
}

// A client that had become its own server and was killed in the middle of iteration 2.
class DeadAlone : public ::testing::Test {
 protected:
  void SetUp() override {
    const Environment place("TAILRACE_TEST_PLACE", kSyncPlace);
    OtherProcess client(TEST_OTHER_PROCESS);
    ASSERT_EQ(client.ask("open " + directory_.path().string() + " run 0"), kOk);
    ASSERT_EQ(client.ask("write 0"), kOk);
    stop(only_server(node_));
    ASSERT_EQ(client.ask("end 0"), kOk);
    kill_server(node_);
    ASSERT_EQ(client.ask("flush"), kOk);
    ASSERT_EQ(client.ask("write 1"), kOk);
    ASSERT_EQ(client.ask("end 1"), kOk);
    ASSERT_EQ(client.ask("write 2"), kOk);
    client.end(SIGKILL);
    for (const int64_t iteration : {0, 1}) {
      test::expect_exact(directory_.path() / file_of(0, iteration), iteration);
      test::fs::remove(directory_.path() / file_of(0, iteration));  // if it comes again, the next server has
                                                                    // rewritten old bytes
    }
  }

  void expect_nothing_again() const {
    for (const int64_t iteration : {0, 1, 2}) {
      EXPECT_FALSE(test::fs::exists(directory_.path() / file_of(0, iteration))) << iteration;
    }
    EXPECT_EQ(node_.leavings(), std::vector<std::string>());
    EXPECT_FALSE(test::fs::exists(directory_.path() / ".run_c0.lock"));
  }

  const CoreNode node_;
  const Directory directory_{"/dev/shm"};
};

TEST_F(DeadAlone, IsWrittenByDrainAndNothingTwice) {
  EXPECT_EQ(node_.drain(), std::vector<int>());
  expect_nothing_again();
}

TEST_F(DeadAlone, TheSameClientMayComeAgain) {
  OpenRun run(sync_config(), directory_, 0);
  ASSERT_TRUE(run.opened()) << run.error().message;
  EXPECT_EQ(test::write_iteration(run, 3), TAILRACE_OK);
  kill_server(node_);  // the next one must not trust the first server's records
  EXPECT_EQ(test::write_iteration(run, 4), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  for (const int64_t iteration : {3, 4}) test::expect_exact(directory_.path() / file_of(0, iteration), iteration);
  expect_nothing_again();
}

TEST(ServerLossSync, WhoGoesOnAloneIsLeftAloneByANewServer) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun alone(sync_config(), directory, 0);
  ASSERT_TRUE(alone.opened()) << alone.error().message;
  ASSERT_EQ(test::write_iteration(alone, 0), TAILRACE_OK);
  kill_server(node);
  ASSERT_EQ(tailrace_flush(alone), TAILRACE_OK) << alone.error().message;
  {
    OpenRun other(sync_config(), directory, 1);
    ASSERT_TRUE(other.opened()) << other.error().message;
    EXPECT_EQ(test::write_iteration(other, 0, 1), TAILRACE_OK);
    EXPECT_EQ(test::write_iteration(alone, 1), TAILRACE_OK) << alone.error().message;
    EXPECT_EQ(other.close(), TAILRACE_OK);
  }
  node.wait_end_of_servers();
  EXPECT_EQ(test::write_iteration(alone, 2), TAILRACE_OK) << alone.error().message;
  EXPECT_EQ(alone.close(), TAILRACE_OK);
  for (const int64_t iteration : {0, 1, 2}) test::expect_exact(directory.path() / file_of(0, iteration), iteration);
  test::expect_exact(directory.path() / file_of(1, 0), 0, 1);
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

TEST(ServerStopped, LongerThanPatienceIsATimeoutAndItGoesOnAfterwards) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.place = "{kind: core, cpus: none, patience: 1}";
  OpenRun run(config, directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const pid_t server = only_server(node);
  stop(server);
  const std::vector<double> values = test::block(0, 0);
  tailrace_ticket ticket{};
  ASSERT_EQ(tailrace_borrow(run, "a", 0, values.data(), &ticket), TAILRACE_OK);
  ASSERT_EQ(tailrace_end_iteration(run, 0), TAILRACE_OK);
  const std::string named = "process " + std::to_string(server);
  EXPECT_EQ(tailrace_wait(ticket, 0), TAILRACE_TIMEOUT);
  EXPECT_FALSE(run.error().says(named)) << "that it has not ended within no time is no fault of the server's";
  EXPECT_EQ(tailrace_wait(ticket, -1), TAILRACE_TIMEOUT);
  EXPECT_TRUE(run.error().says(named)) << run.error().message;
  EXPECT_EQ(tailrace_flush(run), TAILRACE_TIMEOUT);
  EXPECT_TRUE(run.error().says(named)) << run.error().message;
  kill(server, SIGCONT);
  const auto at_last = [](auto call) {
    tailrace_status status = TAILRACE_TIMEOUT;
    while (status == TAILRACE_TIMEOUT) status = call();  // on a slow machine it may be out of patience again
    return status;
  };
  EXPECT_EQ(at_last([&] { return tailrace_wait(ticket, -1); }), TAILRACE_OK) << run.error().message;
  EXPECT_EQ(at_last([&] { return tailrace_flush(run); }), TAILRACE_OK) << run.error().message;
  EXPECT_TRUE(test::fs::exists(directory.path() / file_of(0, 0)));
  EXPECT_EQ(run.close(), TAILRACE_OK);
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// The child has all its parent's descriptors, and keeps them open. (It must not use the client.)
TEST(Fork, OfAnApplicationWithAnOpenClientChangesNothing) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun run(test::core_config(), directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  ASSERT_EQ(test::write_iteration(run, 0), TAILRACE_OK);
  int hold[2];
  ASSERT_EQ(pipe(hold), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(hold[1]);
    char byte = 0;
    _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(hold[0]);
  ASSERT_EQ(test::write_iteration(run, 1), TAILRACE_OK);
  kill_server(node);  // and a new one comes while the child holds the old connection
  ASSERT_EQ(test::write_iteration(run, 2), TAILRACE_OK);
  EXPECT_EQ(tailrace_flush(run), TAILRACE_OK) << run.error().message;
  EXPECT_EQ(run.close(), TAILRACE_OK);
  node.wait_end_of_servers();
  for (int64_t iteration = 0; iteration < 3; ++iteration) {
    test::expect_exact(directory.path() / file_of(0, iteration), iteration);
  }
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
  close(hold[1]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
