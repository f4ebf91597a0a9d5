// Forks and watches the processes. See the header.
#include "crew.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "error.hpp"
#include "shared_peers.hpp"

namespace tsunami {
namespace {

using Clock = std::chrono::steady_clock;

// Returns a descriptor that becomes readable when the process ends. (glibc 2.36 has no such function usable from
// C++.)
int open_process(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

// Runs a process of the crew, from the fork to its end.
[[noreturn]] void serve(CrewMemory& memory, int rank, const CrewOptions& options, pid_t watcher,
                        const std::function<void(Peers&)>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != watcher) std::_Exit(1);  // the watcher died before that
  int code = 1;
  try {
    SharedPeers peers(memory, rank, SharedPeers::Seconds(options.wait_limit));
    work(peers);
    code = 0;
  } catch (const Stopped&) {
    // The process that failed reports why.
  } catch (const std::bad_alloc&) {
    memory.tell_failure(rank, "not enough memory");
  } catch (const std::exception& error) {
    memory.tell_failure(rank, error.what());
  }
  std::exit(code);
}

class Watcher {
 public:
  Watcher(const CrewOptions& options, const std::function<void(Peers&)>& work)
      : options_(options), memory_(options.processes, options.halo, options.gathered) {
    std::fflush(nullptr);  // or each process would print the buffered output
    const pid_t self = ::getpid();
    for (int rank = 0; rank < options.processes; ++rank) {
      const pid_t pid = ::fork();
      if (pid == 0) serve(memory_, rank, options, self, work);
      const int descriptor = pid < 0 ? -1 : open_process(pid);
      if (descriptor < 0) {
        const std::string why = std::strerror(errno);
        if (pid > 0) kill_now(pid);
        end_all();
        throw Error("cannot start process " + std::to_string(rank) + " of " + std::to_string(options.processes) +
                    ": " + why);
      }
      running_.push_back({rank, pid, descriptor});
    }
  }
  ~Watcher() { end_all(); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  CrewEnd watch() {
    while (!running_.empty() && wait_for_one()) reap();
    if (!running_.empty()) {
      end_.message += "; " + std::to_string(running_.size()) + " of the others had to be killed";
      end_all();
    }
    end_.good = end_.message.empty();
    return end_;
  }

 private:
  struct Process {
    int rank;
    pid_t pid;
    int descriptor;  // becomes readable when it ends
  };

  static void kill_now(pid_t pid) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }

  // Waits until a process has ended. Returns false if the grace is over.
  bool wait_for_one() {
    std::vector<pollfd> ends;
    for (const Process& process : running_) ends.push_back({process.descriptor, POLLIN, 0});
    int timeout = -1;
    if (!end_.message.empty()) {
      const double left = std::chrono::duration<double>(deadline_ - Clock::now()).count();
      if (left <= 0) return false;
      timeout = static_cast<int>(left * 1e3) + 1;
    }
    ::poll(ends.data(), ends.size(), timeout);
    return true;
  }

  void reap() {
    for (std::size_t k = running_.size(); k-- > 0;) {
      const Process process = running_[k];
      int status = 0;
      if (::waitpid(process.pid, &status, WNOHANG) != process.pid) continue;
      ::close(process.descriptor);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(k));
      if ((!WIFEXITED(status) || WEXITSTATUS(status) != 0) && end_.message.empty()) fail(process.rank, status);
    }
  }

  void fail(int rank, int status) {
    const CrewMemory::Failure told = memory_.failure();
    if (told.rank >= 0) rank = told.rank;
    end_.message = "process " + std::to_string(rank) + " of " + std::to_string(options_.processes);
    if (told.rank >= 0) {
      end_.message += ": " + told.message;
    } else if (WIFSIGNALED(status)) {
      end_.message +=
          " was killed by signal " + std::to_string(WTERMSIG(status)) + " (" + ::strsignal(WTERMSIG(status)) + ")";
    } else {
      end_.message += " ended with exit code " + std::to_string(WEXITSTATUS(status));
    }
    deadline_ =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.grace));
    memory_.stop();
  }

  void end_all() {
    for (const Process& process : running_) {
      kill_now(process.pid);
      ::close(process.descriptor);
    }
    running_.clear();
  }

  const CrewOptions options_;
  CrewMemory memory_;
  std::vector<Process> running_;
  CrewEnd end_;
  Clock::time_point deadline_;  // set once one has failed
};

}  // namespace

CrewEnd run_crew(const CrewOptions& options, const std::function<void(Peers&)>& work) {
  return Watcher(options, work).watch();
}

}  // namespace tsunami
