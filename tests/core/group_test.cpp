// Files have the group of the program that they belong to, no matter who started the server (promise 8).
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core_files.hpp"

namespace {

using test::CoreNode;
using test::Directory;
using test::OpenRun;

constexpr gid_t kOther = 1;

class Groups : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root may take other groups";
  }
  // A program of the other group, which opens, writes an iteration, and says what it was told.
  pid_t begin_other(int number, std::string& told) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      if (setegid(kOther) != 0) _exit(1);
      OpenRun run(test::core_config(), directory_, number);
      std::string said = run.opened() ? "opened" : run.error().message;
      if (run.opened() && (test::write_iteration(run, 0) != TAILRACE_OK || run.close() != TAILRACE_OK))
        said = "failed";
      _exit(write(ends[1], said.data(), said.size()) > 0 ? 0 : 1);
    }
    close(ends[1]);
    if (let_go_ != 0) kill(let_go_, SIGCONT);
    char text[1000];
    const ssize_t length = read(ends[0], text, sizeof text);
    told.assign(text, length > 0 ? static_cast<size_t>(length) : 0);
    close(ends[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return child;
  }
  gid_t group_of(int client) const {
    struct stat info {};
    EXPECT_EQ(stat((directory_.path() / test::file_of(client, 0)).c_str(), &info), 0);
    return info.st_gid;
  }

  const CoreNode node_;
  const Directory directory_{"/dev/shm"};
  pid_t let_go_ = 0;
};

TEST_F(Groups, OfClientsOfOneServerAreEqual) {
  OpenRun run(test::core_config(), directory_, 0);
  ASSERT_TRUE(run.opened()) << run.error().message;
  std::string told;
  begin_other(1, told);
  EXPECT_NE(told.find("group"), std::string::npos) << told;
  EXPECT_EQ(test::write_iteration(run, 0), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_EQ(group_of(0), getegid());
}

// It may meet the server of the earlier run, which is about to end.
TEST_F(Groups, OfARunThatFollowsAtOnceAreItsOwn) {
  {
    OpenRun run(test::core_config(), directory_, 0);
    ASSERT_TRUE(run.opened()) << run.error().message;
    ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
    const std::vector<pid_t> servers = node_.servers();
    ASSERT_EQ(servers.size(), 1u);
    let_go_ = servers[0];
  }
  kill(let_go_, SIGSTOP);
  std::string told;
  begin_other(1, told);
  ASSERT_EQ(told, "opened");
  EXPECT_EQ(group_of(1), kOther);
}

}  // namespace
