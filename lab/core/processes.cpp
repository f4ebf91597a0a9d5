#include "lab/core/processes.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "lab/core/shared_memory.hpp"
#include "lab/pattern/errors.hpp"

namespace bench::core {
namespace {

using Text = std::array<char, 512>;

// The failures of the processes. Each process writes its own; they are read when it has ended.
class Errors {
 public:
  explicit Errors(int count)
      : memory_(static_cast<size_t>(count) * sizeof(Text)), texts_(reinterpret_cast<Text*>(memory_.data())) {}

  void set(int process, const char* text) const {
    std::strncpy(texts_[process].data(), text, sizeof(Text) - 1);  // the rest is 0 already
  }
  std::string of(int process) const { return texts_[process].data(); }

 private:
  const SharedMemory memory_;
  Text* const texts_;
};

// Runs a process of the run, from its fork to its end.
[[noreturn]] void be_process(int process, const std::function<void(int)>& work, const Errors& errors) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // so that none waits at a barrier forever if the first one dies
  int code = 0;
  try {
    work(process);
  } catch (const std::exception& error) {
    errors.set(process, error.what());
    code = 1;
  }
  std::fflush(nullptr);
  _exit(code);
}

void kill_all(std::span<const pid_t> processes) {
  for (const pid_t one : processes) {
    if (one > 0) kill(one, SIGKILL);
  }
}

void wait_for(std::vector<pid_t> processes, const Errors& errors) {
  std::string failed;
  for (size_t left = processes.size(); left > 0; --left) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    require(ended > 0, "wait for the processes");
    size_t which = 0;
    while (which < processes.size() && processes[which] != ended) ++which;
    if (which == processes.size()) continue;
    processes[which] = 0;
    if (status == 0 || !failed.empty()) continue;
    const std::string said = errors.of(static_cast<int>(which));
    failed = "process " + std::to_string(which) + ": " +
             (!said.empty() ? said : "ended with status " + std::to_string(status));
    kill_all(processes);
  }
  if (!failed.empty()) throw RunError(failed);
}

}  // namespace

void in_processes(int count, const std::function<void(int)>& work) {
  const Errors errors(count);
  std::vector<pid_t> processes;
  for (int process = 0; process < count; ++process) {
    const pid_t forked = fork();
    if (forked == 0) be_process(process, work, errors);
    if (forked < 0) {
      const int error = errno;
      kill_all(processes);
      require(false, "start a process", error);
    }
    processes.push_back(forked);
  }
  wait_for(processes, errors);
}

}  // namespace bench::core
