// Raw files that get their name when they are complete, through the server of a node, when clients and servers die.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "core_files.hpp"
#include "raw_file.hpp"
#include "server_loss.hpp"

namespace {

using test::Bytes;
using test::CoreNode;
using test::Directory;
using test::kill_server;
using test::OpenRun;
using test::OtherProcess;
using test::stop_server;

constexpr int kPublish = TAILRACE_FILE_WRITE | TAILRACE_FILE_PUBLISH | TAILRACE_FILE_TRUNCATE;
const std::string kOk = "0";

std::string text_of(const test::fs::path& path) {
  const Bytes bytes = test::bytes_of(path);
  return {bytes.begin(), bytes.end()};
}

class PublishedServerLoss : public testing::TestWithParam<const char*> {};

// Whenever servers die, each file is complete, and no other file has its name.
TEST_P(PublishedServerLoss, LosesNoFileAndShowsNoHalfOne) {
  const uint64_t seed = test::seed_of_test();
  SCOPED_TRACE("repeat with TAILRACE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun run(test::config_with_loss(GetParam()), directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const auto text = [](int number) { return std::string(30'000, static_cast<char>('a' + number % 26)); };
  std::vector<tailrace_ticket> tickets;
  int killed = 0;
  const int count = std::string(GetParam()) == "sync" ? 40 : 150;
  for (int number = 0; number < count; ++number) {
    tailrace_file file{};
    ASSERT_EQ(tailrace_file_open(run, std::to_string(number).c_str(), kPublish, &file), TAILRACE_OK)
        << run.error().message;
    const tailrace_extent extents[] = {{10'000, 20'000}, {0, 10'000}};
    ASSERT_EQ(tailrace_file_write(file, 2, extents, text(number).data()), TAILRACE_OK) << run.error().message;
    tailrace_ticket ticket{};
    ASSERT_EQ(tailrace_file_iclose(file, &ticket), TAILRACE_OK) << run.error().message;
    tickets.push_back(ticket);
    if (random() % 8 != 0 && number != 5) continue;
    const uint64_t spins = uint64_t{1} << (random() % 20);
    for (std::atomic<uint64_t> i{0}; i < spins;) ++i;
    killed += node.kill_servers(SIGKILL);
  }
  for (int number = 0; number < count; ++number) {
    EXPECT_EQ(tailrace_wait(tickets[static_cast<size_t>(number)], -1), TAILRACE_OK) << run.error().message;
    EXPECT_EQ(text_of(directory.path() / std::to_string(number)), text(number)) << number;
    EXPECT_FALSE(test::fs::exists(directory.path() / (std::to_string(number) + ".partial"))) << number;
  }
  EXPECT_EQ(run.close(), TAILRACE_OK) << run.error().message;
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
  std::printf("%d servers killed; seed %llu\n", killed, static_cast<unsigned long long>(seed));
}

INSTANTIATE_TEST_SUITE_P(OnServerLoss, PublishedServerLoss, testing::Values("restart", "sync"),
                         [](const auto& of) { return std::string(of.param); });

// Failures before the server's death are not forgotten.
TEST(PublishedFilesCore, OneThatFailedBeforeTheServersDeathIsNotPublishedByTheNext) {
  const CoreNode node;
  const Directory directory;  // on a file system whose files end before 2^62
  OpenRun run(test::config_with_loss("restart"), directory);
  tailrace_file file{};
  ASSERT_EQ(tailrace_file_open(run, "a.raw", kPublish, &file), TAILRACE_OK) << run.error().message;
  const tailrace_extent good{0, 4};
  const tailrace_extent bad{(uint64_t{1} << 62) - 1, 1};
  tailrace_ticket ticket{};
  ASSERT_EQ(tailrace_file_iwrite(file, 1, &bad, "x", &ticket), TAILRACE_OK);
  if (tailrace_wait(ticket, -1) == TAILRACE_OK) GTEST_SKIP() << "this file system has files of 2^62 bytes";
  kill_server(node);
  ASSERT_EQ(tailrace_file_write(file, 1, &good, "good"), TAILRACE_OK) << run.error().message;
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_NOT_PUBLISHED) << run.error().message;
  EXPECT_TRUE(run.error().says("a.raw.partial")) << run.error().message;
  EXPECT_FALSE(test::fs::exists(directory.path() / "a.raw"));
  EXPECT_EQ(text_of(directory.path() / "a.raw.partial"), "good");
  // The server may have died before it marked the write as ended; then the next one repeats it, and it fails again.
  const tailrace_status closed = run.close();
  EXPECT_TRUE(closed == TAILRACE_OK || closed == TAILRACE_EARLIER_FAILURE) << closed;
}

TEST(PublishedFilesCore, OfADeadClientAPartIsLeftUnlessItHadClosedIt) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun other(test::config_with_loss("restart"), directory, 1);
  for (const bool closed : {false, true}) {
    setenv("TAILRACE_TEST_PLACE", "core", 1);
    OtherProcess client(TEST_OTHER_PROCESS);
    ASSERT_EQ(client.ask("open " + directory.path().string() + " run 0"), kOk);
    ASSERT_EQ(client.ask("raw_publish dead.raw"), kOk);
    stop_server(node);
    ASSERT_EQ(client.ask("raw_write 0 10 x"), kOk);
    EXPECT_EQ(closed ? client.ask("raw_iclose") : kOk, kOk);
    client.end(SIGKILL);
    for (const pid_t server : node.servers()) kill(server, SIGCONT);
    test::await_left("run", 0);
    unsetenv("TAILRACE_TEST_PLACE");
    EXPECT_EQ(test::fs::exists(directory.path() / "dead.raw"), closed);
    EXPECT_EQ(text_of(directory.path() / (closed ? "dead.raw" : "dead.raw.partial")), std::string(10, 'x'));
  }
  EXPECT_FALSE(test::fs::exists(directory.path() / "dead.raw.partial"));
  EXPECT_EQ(other.close(), TAILRACE_OK);
}

// No client is left: draining the node publishes what was closed.
TEST(PublishedFilesCore, WhatIsLeftWhenAllHaveDiedIsDrained) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  setenv("TAILRACE_TEST_PLACE", "core", 1);
  OtherProcess client(TEST_OTHER_PROCESS);
  unsetenv("TAILRACE_TEST_PLACE");
  ASSERT_EQ(client.ask("open " + directory.path().string() + " run 0"), kOk);
  ASSERT_EQ(client.ask("raw_publish left.raw"), kOk);
  stop_server(node);
  ASSERT_EQ(client.ask("raw_write 0 7 y"), kOk);
  ASSERT_EQ(client.ask("raw_iclose"), kOk);
  client.end(SIGKILL);
  kill_server(node);
  EXPECT_EQ(text_of(directory.path() / "left.raw.partial"), "");
  EXPECT_FALSE(test::fs::exists(directory.path() / "left.raw"));
  EXPECT_EQ(node.drain(), std::vector<int>());
  EXPECT_EQ(text_of(directory.path() / "left.raw"), "yyyyyyy");
  EXPECT_FALSE(test::fs::exists(directory.path() / "left.raw.partial"));
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

// Clients of one server do not interfere.
TEST(PublishedFilesCore, ASecondOpenerIsRefused) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun one(test::config_with_loss("restart"), directory, 0);
  OpenRun other(test::config_with_loss("restart"), directory, 1);
  tailrace_file file{};
  tailrace_file second{};
  ASSERT_EQ(tailrace_file_open(one, "a.raw", kPublish, &file), TAILRACE_OK) << one.error().message;
  for (const int mode : {kPublish, static_cast<int>(TAILRACE_FILE_WRITE), static_cast<int>(TAILRACE_FILE_READ)}) {
    EXPECT_EQ(tailrace_file_open(other, "a.raw", mode, &second), TAILRACE_WRONG_ORDER) << other.error().message;
    EXPECT_TRUE(other.error().says("a.raw.partial")) << other.error().message;
  }
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_open(other, "a.raw", kPublish, &second), TAILRACE_OK) << other.error().message;
  EXPECT_EQ(tailrace_file_close(second), TAILRACE_OK);
  EXPECT_EQ(one.close(), TAILRACE_OK);
  EXPECT_EQ(other.close(), TAILRACE_OK);
}

}  // namespace
