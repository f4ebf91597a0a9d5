// CoreNode: a node for tests of place `core`: a separate runtime directory, in which it finds, kills and waits for
// the servers that clients start.
//
// Every process that this one starts afterwards uses it, by its environment. It finds servers through the system
// (/proc), not through tailrace.
#pragma once

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "other_process.hpp"
#include "run_rig.hpp"

namespace test {

// Waits until no thread of the process runs, after a SIGSTOP: each first finishes its system call.
inline void wait_stop_of(pid_t process) {
  const auto stopped = [](const fs::path& thread) {
    std::ifstream file(thread / "stat");
    std::string text;
    std::getline(file, text);
    const size_t state = text.rfind(") ");  // the name before it may contain anything
    return state == std::string::npos || text[state + 2] == 'T';
  };
  const fs::path threads = fs::path("/proc") / std::to_string(process) / "task";
  std::error_code gone;
  for (bool all = false; !all; sched_yield()) {
    all = true;
    for (const auto& thread : fs::directory_iterator(threads, gone)) all = all && stopped(thread.path());
  }
}

// Returns a descriptor of the process for await_end(); negative if there is none of that number.
inline int watch(pid_t process) { return static_cast<int>(syscall(SYS_pidfd_open, process, 0)); }

// Waits until the watched process has ended, and closes the descriptor; returns at once if there was none.
inline void await_end(int handle) {
  if (handle < 0) return;
  pollfd end{handle, POLLIN, 0};
  while (poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
  close(handle);
}

inline void wait_end_of(pid_t process) { await_end(watch(process)); }

// Returns as much of the text as there is: a file of a process (/proc) may end in the middle when its process does.
inline std::string text_of(const fs::path& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class CoreNode {
 public:
  CoreNode() : root_("/dev/shm") { setenv("TAILRACE_RUNTIME_DIR", root_.path().c_str(), 1); }
  // Kills servers that a failed test leaves behind.
  ~CoreNode() { kill_servers(SIGKILL); }
  CoreNode(const CoreNode&) = delete;
  CoreNode& operator=(const CoreNode&) = delete;

  const fs::path& root() const { return root_.path(); }

  // Returns the processes of the server's program that serve this node, or only those with one number. May miss one
  // that is just starting.
  std::vector<pid_t> servers(int number = -1) const {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      const std::string line = text_of(entry.path() / "cmdline");
      const std::string root = std::string("--root") + '\0' + root_.path().string() + '\0';
      const std::string server = std::string("--server") + '\0' + std::to_string(number) + '\0';
      if (number >= 0 && line.find(server) == std::string::npos) continue;
      if (line.find(root) != std::string::npos) found.push_back(static_cast<pid_t>(std::stol(name)));
    }
    return found;
  }

  // Sends `signal` to all, or to those with one number; returns how many there were. After a SIGSTOP they have
  // stopped.
  int kill_servers(int signal, int number = -1) const {
    int hit = 0;
    for (const pid_t server : servers(number)) {
      if (signal == SIGKILL) killed_.push_back(watch(server));
      if (kill(server, signal) != 0) continue;
      ++hit;
      if (signal == SIGSTOP) wait_stop_of(server);
    }
    return hit;
  }

  // Waits until the last one has ended, and those that kill_servers() has killed: servers() does not find a process
  // that is ending, which may still hold its locks.
  void wait_end_of_servers(int number = -1) const {
    for (const int killed : std::exchange(killed_, {})) await_end(killed);
    for (std::vector<pid_t> left = servers(number); !left.empty(); left = servers(number)) {
      for (const pid_t server : left) wait_end_of(server);
    }
  }

  // Runs the server's program on everything that dead jobs have left; returns the statuses of runs that failed.
  std::vector<int> drain(int cores = 1) const {
    std::vector<int> failed;
    for (const std::string& job : jobs()) {
      for (int server = 0; server < cores; ++server) {
        OtherProcess program(CORE_SERVER, {"--root", root_.path(), "--job", job, "--server", std::to_string(server),
                                           "--log", "error", "--drain"});
        if (const int status = program.wait_end(); status != 0) failed.push_back(status);
      }
    }
    return failed;
  }

  // Returns the jobs that have a directory.
  std::vector<std::string> jobs() const { return root_.names(); }

  // Returns everything in the runtime directory, by its path below it.
  std::vector<std::string> leavings() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(root_.path())) {
      found.push_back(fs::relative(entry.path(), root_.path()));
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  Directory root_;
  mutable std::vector<int> killed_;  // descriptors of processes
};

}  // namespace test
