// The client that a door for unchanged programs has in a process, from the door's side.
#include "process_client/process_client.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "testing/scratch.hpp"

namespace tailrace::process {
namespace {

class ProcessClientTest : public testing::Test {
 protected:
  ProcessClientTest() {
    ::setenv("XDG_RUNTIME_DIR", scratch_.path().c_str(), 1);
    EXPECT_TRUE(client_.configure({.config = "", .place = "thread", .budget = 1 << 20, .summary = false}));
  }
  // A door's client is never destroyed; this one is, at the end of a test.
  ~ProcessClientTest() override { client_.end(); }

  std::string path(const std::string& name) const {
    return (std::filesystem::canonical(scratch_.path()) / name).string();
  }
  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void make(const std::string& path) { std::ofstream(path, std::ios::binary); }
  tailrace_status write(tailrace_file file, uint64_t offset, const std::string& bytes) {
    const tailrace_extent extent{offset, bytes.size()};
    return client_.write(file, {&extent, 1}, bytes.data()).status;
  }

  impl::ScratchDirectory scratch_;
  ProcessClient client_{{"TEST", "test", [] {}, [] {}}};
};

TEST_F(ProcessClientTest, OpensWithTheFirstFileAndKeepsItsSettings) {
  EXPECT_EQ(client_.budget(), 1u << 20);
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path())) << "nothing is opened before it is needed";
  make(path("a"));
  tailrace_file file{};
  ASSERT_TRUE(client_.open(path("a"), &file));
  EXPECT_FALSE(client_.configure({.config = "", .place = "thread", .budget = 2 << 20, .summary = false}));
  EXPECT_EQ(client_.budget(), 1u << 20);
  client_.close(file);
}

// As processes of two nodes may, which share the directory for locks.
TEST_F(ProcessClientTest, OpensBesideAnotherOneWithTheSameNumber) {
  ProcessClient other{{"TEST", "test", [] {}, [] {}}};
  ASSERT_TRUE(other.configure({.config = "", .place = "thread", .budget = 1 << 20, .summary = false}));
  make(path("a"));
  make(path("b"));
  tailrace_file a{};
  tailrace_file b{};
  EXPECT_TRUE(client_.open(path("a"), &a));
  EXPECT_TRUE(other.open(path("b"), &b));
  other.end();
}

TEST_F(ProcessClientTest, CarriesBytesAndReadsThemBack) {
  make(path("a"));
  tailrace_file file{};
  ASSERT_TRUE(client_.open(path("a"), &file));
  EXPECT_EQ(write(file, 4, "carried"), TAILRACE_OK);
  std::string back(7, ' ');
  const tailrace_extent extent{4, 7};
  EXPECT_EQ(client_.read(file, {&extent, 1}, back.data()).status, TAILRACE_OK);
  EXPECT_EQ(back, "carried");
  const uint64_t mark = client_.mark();
  EXPECT_EQ(client_.flush().status, TAILRACE_OK);
  EXPECT_TRUE(client_.reached(mark));
  client_.close(file);
  EXPECT_EQ(contents(path("a")), std::string(4, '\0') + "carried");
}

// As a file does that is drained, or written to, before it asks for its mark.
TEST_F(ProcessClientTest, MarkThatNobodyAsksForDelaysNoOther) {
  make(path("a"));
  tailrace_file file{};
  ASSERT_TRUE(client_.open(path("a"), &file));
  for (uint64_t turn = 0; turn < 10; ++turn) {
    EXPECT_EQ(write(file, 8 * turn, "not even"), TAILRACE_OK);
    (void)client_.mark();
    if (turn % 3 == 0) {
      EXPECT_EQ(client_.flush().status, TAILRACE_OK);
    }
    EXPECT_EQ(write(file, 8 * turn, "the last"), TAILRACE_OK);
    const uint64_t mark = client_.mark();
    while (!client_.reached(mark)) std::this_thread::yield();
    EXPECT_EQ(contents(path("a")).substr(8 * turn), "the last");
  }
  client_.close(file);
}

TEST_F(ProcessClientTest, ALaterMarkOrFlushReachesAllEarlierMarks) {
  make(path("a"));
  tailrace_file file{};
  ASSERT_TRUE(client_.open(path("a"), &file));
  EXPECT_TRUE(client_.reached(client_.mark())) << "nothing was handed over";
  std::vector<uint64_t> marks;
  for (uint64_t turn = 0; turn < 5; ++turn) {
    EXPECT_EQ(write(file, turn, "x"), TAILRACE_OK);
    marks.push_back(client_.mark());
  }
  while (!client_.reached(marks.back())) std::this_thread::yield();
  for (const uint64_t mark : marks) EXPECT_TRUE(client_.reached(mark));
  EXPECT_EQ(write(file, 5, "x"), TAILRACE_OK);
  const uint64_t mark = client_.mark();
  EXPECT_EQ(client_.flush().status, TAILRACE_OK);
  EXPECT_TRUE(client_.reached(mark));
  EXPECT_EQ(contents(path("a")), "xxxxxx");
  client_.close(file);
}

TEST_F(ProcessClientTest, WritesOfTicketsEndOneByOne) {
  make(path("a"));
  tailrace_file file{};
  ASSERT_TRUE(client_.open(path("a"), &file));
  const std::string bytes(300000, 'x');  // more than an eighth of the budget: several parts
  const tailrace_extent extent{0, bytes.size()};
  std::vector<tailrace_ticket> tickets;
  ASSERT_EQ(client_.iwrite(file, {&extent, 1}, bytes.data(), tickets).status, TAILRACE_OK);
  EXPECT_GT(tickets.size(), 1u);
  for (const tailrace_ticket& ticket : tickets) {
    EXPECT_EQ(client_.wait(ticket, -1, path("a")).status, TAILRACE_OK);
  }
  EXPECT_EQ(contents(path("a")), bytes);
  client_.close(file);
}

TEST_F(ProcessClientTest, KeepsFailuresByFileAndReportsEachOnce) {
  std::signal(SIGXFSZ, SIG_IGN);
  for (const char* name : {"a", "b"}) make(path(name));
  tailrace_file a{}, b{};
  ASSERT_TRUE(client_.open(path("a"), &a) && client_.open(path("b"), &b));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit{1 << 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  EXPECT_EQ(write(a, 2 << 20, "too far"), TAILRACE_OK);
  EXPECT_EQ(write(b, 0, "fits"), TAILRACE_OK);
  EXPECT_EQ(client_.flush().status, TAILRACE_OK);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_TRUE(client_.take_failures(path("b")).empty());
  const std::vector<ProcessClient::Failure> failures = client_.take_failures(path("a"));
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_NE(failures[0].message.find("File too large"), std::string::npos) << failures[0].message;
  EXPECT_EQ(failures[0].system_errno, EFBIG);
  EXPECT_TRUE(client_.take_failures(path("a")).empty());
  client_.close(a);
  client_.close(b);
  EXPECT_EQ(contents(path("b")), "fits");
}

TEST_F(ProcessClientTest, ForkedChildOpensAClientOfItsOwn) {
  for (const char* name : {"parent", "child"}) make(path(name));
  tailrace_file file{};
  ASSERT_TRUE(client_.open(path("parent"), &file));
  client_.before_fork();
  const pid_t child = ::fork();
  if (child == 0) {
    client_.after_fork_in_child();
    tailrace_file own{};
    const bool done = client_.open(path("child"), &own) && write(own, 0, "child") == TAILRACE_OK;
    client_.close(own);
    client_.end();
    ::_exit(done ? 0 : 1);
  }
  client_.after_fork_in_parent();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(write(file, 0, "parent"), TAILRACE_OK);
  client_.close(file);
  EXPECT_EQ(contents(path("child")), "child");
  EXPECT_EQ(contents(path("parent")), "parent");
}

TEST_F(ProcessClientTest, AfterItsEndNothingIsCarried) {
  make(path("a"));
  tailrace_file file{};
  ASSERT_TRUE(client_.open(path("a"), &file));
  EXPECT_EQ(write(file, 0, "all of it"), TAILRACE_OK);
  EXPECT_FALSE(client_.has_ended());
  client_.end();
  EXPECT_TRUE(client_.has_ended());
  EXPECT_FALSE(client_.has_failed(path("a")));
  EXPECT_EQ(contents(path("a")), "all of it");
  EXPECT_EQ(write(file, 0, "more"), TAILRACE_CLOSED);
}

TEST_F(ProcessClientTest, WhatCannotBeOpenedIsLeftToTheDoor) {
  tailrace_file file{};
  EXPECT_FALSE(client_.open(path("no/such/directory/a"), &file));
}

}  // namespace
}  // namespace tailrace::process
