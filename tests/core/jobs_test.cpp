// Jobs of one user on one node stay apart, other users are refused, and the next process writes what a dead job left
// in shared memory (promises 5 and 7).
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "core_files.hpp"

namespace {

using test::CoreNode;
using test::Directory;
using test::expect_exact;
using test::file_of;
using test::OpenRun;
using test::OtherProcess;

const std::string kOk = "0";

TEST(Jobs, OfAnotherNameOrDirectoryDoNotMeet) {
  const CoreNode node;
  const Directory one("/dev/shm");
  const Directory other("/dev/shm");
  test::Config renamed = test::core_config();
  renamed.name = "nur";
  OpenRun first(test::core_config(), one);
  OpenRun second(test::core_config(), other);
  OpenRun third(renamed, one);
  ASSERT_TRUE(first.opened() && second.opened() && third.opened());
  EXPECT_EQ(node.servers().size(), 3u);
  EXPECT_EQ(node.jobs().size(), 3u);
  EXPECT_EQ(test::write_iteration(first, 0, 0), TAILRACE_OK);
  EXPECT_EQ(test::write_iteration(second, 0, 1), TAILRACE_OK);
  EXPECT_EQ(test::write_iteration(third, 0, 2), TAILRACE_OK);
  EXPECT_EQ(first.close(), TAILRACE_OK);
  EXPECT_EQ(second.close(), TAILRACE_OK);
  EXPECT_EQ(third.close(), TAILRACE_OK);
  expect_exact(one.path() / file_of(0, 0), 0, 0);
  expect_exact(other.path() / file_of(0, 0), 0, 1);
  expect_exact(one.path() / "nur_c0_000000.h5", 0, 2);
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// The client reports the server's errors as its own: here the lock of a client elsewhere.
TEST(Jobs, ARefusalNamesTheFileAndTheOperation) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun first(test::core_config(), directory, 0);
  OpenRun elsewhere(test::Config(), directory, 1);
  ASSERT_TRUE(first.opened() && elsewhere.opened());
  const OpenRun refused(test::core_config(), directory, 1);
  ASSERT_FALSE(refused.opened());
  EXPECT_EQ(refused.error().status, TAILRACE_CLIENT_IN_USE);
  EXPECT_EQ(refused.error().file, directory.path() / ".run_c1.lock");
  EXPECT_EQ(refused.error().operation, "open");
  EXPECT_EQ(first.close(), TAILRACE_OK);
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// However long it would wait for its first client, it does not wait for another.
TEST(Jobs, AServerWhoseOnlyClientIsRefusedEnds) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  const Directory elsewhere;
  std::ofstream(elsewhere.path() / "job.yaml") << test::core_config().text();
  test::Config thread = test::core_config();
  thread.place = "{kind: thread, cpus: none}";
  OpenRun holds(thread, directory);
  ASSERT_TRUE(holds.opened()) << holds.error().message;
  OtherProcess server(CORE_SERVER, {"--root", node.root(), "--config", elsewhere.path() / "job.yaml", "--path",
                                    directory.path(), "--log", "off", "--wait", "1e9"});
  const auto is_ready = [&] {
    const std::vector<std::string> names = node.leavings();
    return std::any_of(names.begin(), names.end(), [](const auto& name) { return name.ends_with("server_0.sock"); });
  };
  while (!is_ready()) std::this_thread::yield();
  OpenRun refused(test::core_config(), directory);
  EXPECT_FALSE(refused.opened());
  EXPECT_EQ(refused.error().status, TAILRACE_CLIENT_IN_USE) << refused.error().message;
  EXPECT_EQ(server.wait_end(), 0);
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

TEST(Jobs, OfAnotherUserAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const CoreNode node;
  const Directory directory("/dev/shm");
  chmod(directory.path().c_str(), 0777);
  OpenRun run(test::core_config(), directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const pid_t child = fork();
  if (child == 0) {
    constexpr unsigned kNobody = 65534;
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(2);
    OpenRun intruder(test::core_config(), directory, 1);
    const bool refused = !intruder.opened() && intruder.error().status == TAILRACE_IO_ERROR;
    std::fprintf(stderr, "told: %s\n", intruder.error().message.c_str());
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  node.wait_end_of_servers();
}

// ---- what a dead job left -----------------------------------------------------------------------------------

// A job that was killed as a whole: client 0 had ended iterations 0 and 1 and begun 2, and its server, stopped
// before, had taken only the blocks of 0.
class DeadJob : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TAILRACE_TEST_PLACE", "core", 1);
    OtherProcess client(TEST_OTHER_PROCESS);
    unsetenv("TAILRACE_TEST_PLACE");
    ASSERT_EQ(client.ask("open " + directory_.path().string() + " run 0"), kOk);
    ASSERT_EQ(client.ask("write 0"), kOk);
    ASSERT_EQ(client.ask("flush"), kOk);
    const std::vector<pid_t> servers = node_.servers();
    ASSERT_EQ(servers.size(), 1u);
    kill(servers[0], SIGSTOP);
    ASSERT_EQ(client.ask("end 0"), kOk);
    ASSERT_EQ(client.ask("write 1"), kOk);
    ASSERT_EQ(client.ask("end 1"), kOk);
    ASSERT_EQ(client.ask("write 2"), kOk);
    node_.kill_servers(SIGKILL);
    client.end(SIGKILL);
    node_.wait_end_of_servers();
    ASSERT_EQ(node_.jobs().size(), 1u);
    job_ = node_.root() / node_.jobs()[0];
    ASSERT_TRUE(test::fs::exists(job_ / "client_0.segment"));
  }

  void expect_all_there() {
    expect_exact(directory_.path() / file_of(0, 0), 0);
    expect_exact(directory_.path() / file_of(0, 1), 1);
    EXPECT_FALSE(test::fs::exists(directory_.path() / file_of(0, 2)));
    EXPECT_FALSE(test::fs::exists(directory_.path() / ".run_c0.lock"));
    EXPECT_EQ(node_.leavings(), std::vector<std::string>());
  }

  // Another client comes, writes and goes.
  void visit() {
    OpenRun run(test::core_config(), directory_, 1);
    ASSERT_TRUE(run.opened()) << run.error().message;
    EXPECT_EQ(test::write_iteration(run, 0, 1), TAILRACE_OK);
    EXPECT_EQ(run.close(), TAILRACE_OK);
    node_.wait_end_of_servers();
    expect_exact(directory_.path() / file_of(1, 0), 0, 1);
  }

  std::string log() const { return test::text_of(test::log_of(directory_)); }

  // Overwrites a file of the job; returns its contents.
  std::string spoil(const char* name, const std::string& with) {
    const std::string before = test::text_of(job_ / name);
    std::fstream(job_ / name, std::ios::in | std::ios::out | std::ios::binary) << with;
    return before;
  }
  void restore(const char* name, const std::string& text) { std::ofstream(job_ / name, std::ios::binary) << text; }

  const CoreNode node_;
  const Directory directory_{"/dev/shm"};
  test::fs::path job_;
};

TEST_F(DeadJob, IsWrittenByTheNextServer) {
  visit();
  expect_all_there();
}

TEST_F(DeadJob, IsWrittenByDrainWithoutClients) {
  EXPECT_EQ(node_.drain(), std::vector<int>());
  expect_all_there();
}

// A run in place thread would write files of the same names; one of another name would not.
TEST_F(DeadJob, KeepsARunInPlaceThreadOutOfItsFiles) {
  test::Config config;
  const OpenRun refused(config, directory_, 0);
  ASSERT_FALSE(refused.opened());
  EXPECT_EQ(refused.error().status, TAILRACE_EXISTS);
  EXPECT_TRUE(refused.error().says(node_.jobs()[0])) << refused.error().message;
  for (const char* other : {"ru", "runs", "another"}) {
    config.name = other;
    OpenRun run(config, directory_, 0);
    EXPECT_TRUE(run.opened()) << run.error().message;
  }
  EXPECT_EQ(node_.drain(), std::vector<int>());
  expect_all_there();
}

TEST_F(DeadJob, TheSameClientMayComeAgain) {
  OpenRun run(test::core_config(), directory_, 0);
  ASSERT_TRUE(run.opened()) << run.error().message;
  EXPECT_EQ(test::write_iteration(run, 3), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  node_.wait_end_of_servers();
  expect_exact(directory_.path() / file_of(0, 3), 3);
  expect_all_there();
}

TEST_F(DeadJob, AFileOfAClientThatNobodyCanReadIsLeftAndNothingIsLost) {
  const std::string before = spoil("client_0.json", "no JSON");
  visit();
  EXPECT_NE(log().find("client_0.json"), std::string::npos) << log();
  EXPECT_TRUE(test::fs::exists(job_ / "client_0.segment"));
  restore("client_0.json", before);
  EXPECT_EQ(node_.drain(), std::vector<int>());
  expect_all_there();
}

TEST_F(DeadJob, ALedgerThatNobodyCanReadIsAClearErrorAndNothingIsLost) {
  const std::string before = spoil("server_0.ledger", "no ledger");
  OpenRun run(test::core_config(), directory_, 1);
  EXPECT_FALSE(run.opened());
  EXPECT_TRUE(run.error().says("server_0.ledger")) << run.error().message;
  node_.wait_end_of_servers();
  restore("server_0.ledger", before);
  EXPECT_EQ(node_.drain(), std::vector<int>());
  expect_all_there();
}

TEST_F(DeadJob, ASegmentOfAnotherSizeIsLeftAndNothingIsLost) {
  const auto size = test::fs::file_size(job_ / "client_0.segment");
  test::fs::resize_file(job_ / "client_0.segment", size + 4096);
  visit();
  EXPECT_NE(log().find("client 0"), std::string::npos) << log();
  test::fs::resize_file(job_ / "client_0.segment", size);
  EXPECT_EQ(node_.drain(), std::vector<int>());
  expect_all_there();
}

TEST_F(DeadJob, ASegmentThatNoClientEverGotIsRemoved) {
  std::ofstream(job_ / "client_7.segment") << "half made";
  visit();
  expect_all_there();
}

// Two servers of one node admit and dismiss clients side by side. One that dies leaves of a client nothing, its note,
// or its note and its segment; any other file there (an older version left segments without notes) disturbs nobody.
TEST(TwoServers, WhatOneLeftHalfMadeIsNoObstacleBesideTheOther) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.place = "{kind: core, cpus: none, cores: 2}";
  OpenRun first(config, directory, 0);
  ASSERT_TRUE(first.opened()) << first.error().message;
  const test::fs::path job = node.root() / node.jobs().at(0);
  std::ofstream(job / "client_1.segment") << "half made";
  std::ofstream(job / "server_1.segment") << "half made";
  std::ofstream(job / "server_1.new") << "half written";
  std::ofstream(job / "client_3.json") << R"({"server": 1, "process": 0, "began": 0, "message": "no segment yet"})";
  for (const int client : {1, 3}) {
    OpenRun second(config, directory, client);
    ASSERT_TRUE(second.opened()) << second.error().message;
    EXPECT_EQ(test::write_iteration(second, 0, client), TAILRACE_OK);
    EXPECT_EQ(second.close(), TAILRACE_OK);
    expect_exact(directory.path() / file_of(client, 0), 0, client);
  }
  EXPECT_EQ(first.close(), TAILRACE_OK);
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// A server that begins takes neither the other's clients, nor those that the other is just admitting or dismissing.
TEST(TwoServers, BeginAndEndBesideEachOther) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.place = "{kind: core, cpus: none, cores: 2}";
  config.log = "{level: warning}";
  config.budget = "1 MiB";
  config.shape = "[8, 64]";
  constexpr int kTimes = test::kSanitized ? 10 : 60;
  const auto visit = [&](int server) {
    for (int time = 0; time < kTimes; ++time) {
      OpenRun run(config, directory, server);
      if (!run.opened()) std::fprintf(stderr, "%s\n", run.error().message.c_str());
      if (!run.opened() || run.close() != TAILRACE_OK) return 1;
      node.wait_end_of_servers(server);
    }
    return 0;
  };
  const pid_t child = fork();
  if (child == 0) _exit(visit(1));
  EXPECT_EQ(visit(0), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  node.wait_end_of_servers();
  for (const int server : {0, 1}) {
    EXPECT_EQ(test::text_of(test::log_of(directory, server)), "") << "nothing was to be taken over";
  }
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// A file of a node waits for all clients of the node: it waits for one that never comes, and reports that.
TEST(MissingClient, IsSaidToBeMissing) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.place = "{kind: core, cpus: none, clients: 2, patience: 6}";
  config.durability = "written, file_per: node";
  config.log = "{level: warning}";
  OpenRun first(config, directory, 4);
  ASSERT_TRUE(first.opened()) << first.error().message;
  ASSERT_EQ(test::write_iteration(first, 7), TAILRACE_OK);
  const std::string expected = "files wait for clients that have not come: found 1 (4), expected 2";
  while (test::text_of(test::log_of(directory)).find(expected) == std::string::npos) sched_yield();
  OpenRun second(config, directory, 5);
  ASSERT_TRUE(second.opened()) << second.error().message;
  ASSERT_EQ(test::write_iteration(second, 7), TAILRACE_OK);
  EXPECT_EQ(second.close(), TAILRACE_OK);
  EXPECT_EQ(first.close(), TAILRACE_OK);
  EXPECT_TRUE(test::fs::exists(directory.path() / "run_n0_000007.h5"));
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// Its ledger refuses clients that come too late, until the next run begins, or somebody says that the job is over.
TEST(MissingClient, IsRememberedUntilTheJobIsDrained) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.place = "{kind: core, cpus: none, clients: 2, patience: 500 ms}";
  config.durability = "written, file_per: node";
  OpenRun run(config, directory, 0);
  ASSERT_TRUE(run.opened()) << run.error().message;
  ASSERT_EQ(test::write_iteration(run, 0), TAILRACE_OK);
  EXPECT_NE(run.close(), TAILRACE_OK) << "it is told that the other has not come";
  node.wait_end_of_servers();
  ASSERT_EQ(node.jobs().size(), 1u);
  const std::string job = node.jobs()[0];
  EXPECT_EQ(node.leavings(), (std::vector<std::string>{job, job + "/election.lock", job + "/server_0.ledger"}));
  EXPECT_EQ(node.drain(), std::vector<int>());
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

TEST(Drain, DoesNotTouchALivingJob) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun run(test::core_config(), directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const std::vector<pid_t> servers = node.servers();
  EXPECT_EQ(node.drain().size(), 1u) << "it must say that it could not";
  EXPECT_EQ(node.servers(), servers);
  EXPECT_EQ(test::write_iteration(run, 0), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  expect_exact(directory.path() / file_of(0, 0), 0);
  node.wait_end_of_servers();
}

// Nodes may share the directory: each server has its own log.
TEST(ServerLog, HasTheNameOfItsHost) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  test::Config config = test::core_config();
  config.log = "{level: info}";
  OpenRun run(config, directory, 0);
  ASSERT_TRUE(run.opened()) << run.error().message;
  EXPECT_EQ(run.close(), TAILRACE_OK);
  node.wait_end_of_servers();
  EXPECT_NE(test::text_of(test::log_of(directory)).find("client 0 has come"), std::string::npos);
}

}  // namespace
