// The server is gone, or does not answer (promise 5): what clients are told, and what becomes of their data.
#include <gtest/gtest.h>

#include <memory>

#include "core_files.hpp"

namespace {

using test::CoreNode;
using test::Directory;
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

// Stopped, it answers nobody, so that who waits for it waits until it is killed, or continued.
void stop(pid_t process) {
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

// A client that has given up on a server is not waited for by the next one, and may come again.
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
    EXPECT_NE(run.close(), TAILRACE_OK);  // it is told that nothing of it may be written
    kill_server(node);
  }
  EXPECT_EQ(node.drain(), std::vector<int>());
  for (int64_t iteration = 0; iteration < 2; ++iteration) {
    test::expect_exact(directory.path() / file_of(0, iteration), iteration);
  }
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
  EXPECT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK) << run.error().message;
  EXPECT_EQ(tailrace_flush(run), TAILRACE_OK) << run.error().message;
  EXPECT_TRUE(test::fs::exists(directory.path() / file_of(0, 0)));
  EXPECT_EQ(run.close(), TAILRACE_OK);
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// The child has all descriptors of its parent's, and keeps them open. (It must not use the client.)
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
