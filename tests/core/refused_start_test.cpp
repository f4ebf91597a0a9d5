// A failed start of a server leaves nothing behind.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

// The life of a client whose server may open `files` files. Exit status: 0 if it has not come, 1 if it has, and 2 if
// it was told of a failure, too.
pid_t begin_client(int number, rlim_t files, const test::Config& config, const Directory& directory) {
  const pid_t child = fork();
  if (child != 0) return child;
  const rlimit limit{files, files};
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) _exit(100);
  OpenRun run(config, directory, number);
  if (!run.opened()) _exit(0);
  const bool written = test::write_iteration(run, 0) == TAILRACE_OK;
  _exit(run.close() == TAILRACE_OK && written ? 1 : 2);
}

// Whatever a server lacks descriptors for, each client has its actions, or learns that they cannot run.
TEST(RefusedStart, NobodyComesToAServerWithoutItsActions) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer has descriptors of its own";
  const CoreNode node;
  test::Config config = test::core_config();
  config.measurements = "{}\nactions: [{on: end_iteration, run: statistics}, {on: end_iteration, run: store}]";
  bool refused = false;
  bool both_came = false;
  for (rlim_t files = 14; files < 100 && !both_came; ++files) {
    const Directory directory("/dev/shm");
    // At once, so that one may come to the server that another has started.
    const pid_t clients[] = {begin_client(0, files, config, directory), begin_client(1, files, config, directory)};
    both_came = true;
    for (int client = 0; client < 2; ++client) {
      int status = 0;
      ASSERT_EQ(waitpid(clients[client], &status, 0), clients[client]);
      ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) <= 2) << "with " << files << " files";
      refused = refused || WEXITSTATUS(status) == 0;
      both_came = both_came && WEXITSTATUS(status) == 1;
      if (WEXITSTATUS(status) != 1) continue;
      const std::string file = test::text_of(directory.path() / test::file_of(client, 0));
      EXPECT_NE(file.find("tailraceAction_"), std::string::npos)
          << client << " of " << files << " files: " << test::text_of(test::log_of(directory.path()));
    }
    node.wait_end_of_servers();
  }
  EXPECT_TRUE(refused && both_came);
}

}  // namespace
