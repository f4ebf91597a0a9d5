// One beyond each limit of a node's server that clients can reach: it waits or is refused, and nothing is lost.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core_files.hpp"

namespace {

using test::CoreNode;
using test::Directory;
using test::OpenRun;

// Returns the parent of a process; 0: there is none any more.
pid_t parent_of(pid_t process) {
  const std::string text = test::text_of("/proc/" + std::to_string(process) + "/stat");
  const size_t name_end = text.rfind(") ");
  return name_end == std::string::npos ? 0 : static_cast<pid_t>(std::stol(text.substr(name_end + 4)));
}

// Waits until the node's server has a process that runs actions, and returns it.
pid_t wait_host_of(const CoreNode& node) {
  for (;; sched_yield()) {
    const std::vector<pid_t> servers = node.servers();
    if (servers.size() != 1) continue;
    for (const auto& entry : test::fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const auto process = static_cast<pid_t>(std::stol(name));
      const bool is_host = test::text_of(entry.path() / "cmdline").find("tailrace-plugin-host") != std::string::npos;
      if (is_host && parent_of(process) == servers.front()) return process;
    }
  }
}

// A node whose server runs an action on an event, in a process that a test holds up.
class HeldActions : public ::testing::Test {
 protected:
  test::Config config_on(const std::string& event) const {
    test::Config config = test::core_config();
    config.measurements =
        "{}\nactions: [{on: " + event + ", run: statistics, limit: 10 min}, {on: end_iteration, run: store}]";
    return config;
  }
  void hold() {
    host_ = wait_host_of(node_);
    kill(host_, SIGSTOP);
    test::wait_stop_of(host_);
  }
  void let_go() const { kill(host_, SIGCONT); }

  const CoreNode node_;
  const Directory directory_{"/dev/shm"};

 private:
  pid_t host_ = 0;
};

int signals_in(const test::fs::path& path) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t attribute = H5Aopen_by_name(file, "/data/0", "tailraceSignals", H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Aget_space(attribute);
  const auto count = static_cast<int>(H5Sget_simple_extent_npoints(space));
  H5Sclose(space);
  H5Aclose(attribute);
  H5Fclose(file);
  return count;
}

// The verbs of further events wait in the client's ring until those have ended.
TEST_F(HeldActions, OfMoreEventsThanMayBeUnderWayAllRun) {
  constexpr int kMostEvents = 1024;  // of ServerActions
  OpenRun run(config_on("storm"), directory_, 0);
  ASSERT_TRUE(run.opened()) << run.error().message;
  hold();
  for (int event = 0; event <= kMostEvents; ++event) {
    ASSERT_EQ(tailrace_signal(run, "storm", 0), TAILRACE_OK) << run.error().message;
  }
  ASSERT_EQ(test::write_blocks(run, 0), TAILRACE_OK);
  ASSERT_EQ(tailrace_end_iteration(run, 0), TAILRACE_OK);
  let_go();
  EXPECT_EQ(tailrace_flush(run), TAILRACE_OK) << run.error().message;
  EXPECT_EQ(run.close(), TAILRACE_OK) << run.error().message;
  test::expect_exact(directory_.path() / test::file_of(0, 0), 0);
  EXPECT_EQ(signals_in(directory_.path() / test::file_of(0, 0)), kMostEvents + 1);
}

// Begins a client that asks for number 0, tells how that ended, and stays until the test closes its end of `go`.
pid_t begin_asking(const test::Config& config, const Directory& directory, const int (&told)[2], const int (&go)[2]) {
  const pid_t process = fork();
  if (process != 0) return process;
  close(go[1]);
  OpenRun run(config, directory, 0);
  const std::string text = (run.opened() ? "opened" : run.error().message) + "\n";
  char byte = 0;
  const bool said = write(told[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
  _exit(said && read(go[0], &byte, 1) == 0 && (!run.opened() || run.close() == TAILRACE_OK) ? 0 : 1);
}

std::string line_from(int end) {
  std::string line;
  for (char byte = 0; read(end, &byte, 1) == 1 && byte != '\n';) line += byte;
  return line;
}

// The iteration of a client that has died waits for its action, and so its number is in use.
TEST_F(HeldActions, OfTheClientsThatWaitForANumberOneMoreIsRefused) {
  constexpr int kMostWaiting = 64;  // of CoreAcceptor
  test::Config config = config_on("end_iteration");
  config.log = "{level: warning}";
  OpenRun other(config, directory_, 1);
  ASSERT_TRUE(other.opened()) << other.error().message;
  hold();
  const pid_t first = fork();
  if (first == 0) {
    const OpenRun run(config, directory_, 0);
    _exit(run.opened() && test::write_iteration(run, 0) == TAILRACE_OK ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(first, &status, 0), first);
  ASSERT_EQ(status, 0);
  while (test::text_of(test::log_of(directory_)).find("client 0 is lost") == std::string::npos) sched_yield();

  int told[2];
  int go[2];
  ASSERT_EQ(pipe(told), 0);
  ASSERT_EQ(pipe(go), 0);
  std::vector<pid_t> asking;
  for (int i = 0; i <= kMostWaiting; ++i) asking.push_back(begin_asking(config, directory_, told, go));
  const std::string refused = line_from(told[0]);
  EXPECT_NE(refused.find("too many clients wait for numbers that are still in use"), std::string::npos) << refused;
  let_go();
  int opened = 0;
  for (int i = 0; i < kMostWaiting; ++i) {
    const std::string line = line_from(told[0]);
    opened += line == "opened" ? 1 : 0;
    EXPECT_TRUE(line == "opened" || line.find("client 0 is open already") != std::string::npos) << line;
  }
  EXPECT_EQ(opened, 1);
  close(go[1]);
  for (const pid_t one : asking) {
    EXPECT_EQ(waitpid(one, &status, 0), one);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(other.close(), TAILRACE_OK) << other.error().message;
  test::expect_exact(directory_.path() / test::file_of(0, 0), 0);
}

}  // namespace
