#include "action/host_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor_limit.hpp"
#include "base/os/process.hpp"

namespace tailrace::impl {
namespace {

constexpr int kPatience = 1000;  // ms, for the end of a killed process

// The ends of the channels to a new process.
struct Ends {
  FileDescriptor socket_here, socket_there;
  FileDescriptor output_here, output_there;
  FileDescriptor nothing;
};

// Moves a descriptor above those that the new process gets: otherwise assigning one of these could close it.
FileDescriptor out_of_the_way(int fd) {
  FileDescriptor low(fd);
  return FileDescriptor(::fcntl(fd, F_DUPFD_CLOEXEC, HostProcess::kSocket + 1));
}

Result<Ends> make_ends() {
  Ends ends;
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return Status::of_errno("create", "socket to the plugin host", errno);
  }
  ends.socket_here = FileDescriptor(pair[0]);
  ends.socket_there = out_of_the_way(pair[1]);
  if (::pipe2(pair, O_CLOEXEC) != 0) return Status::of_errno("create", "pipe from the plugin host", errno);
  ends.output_here = FileDescriptor(pair[0]);
  ends.output_there = out_of_the_way(pair[1]);
  ends.nothing = out_of_the_way(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!ends.socket_there.is_open() || !ends.output_there.is_open() || !ends.nothing.is_open()) {
    return Status::of_errno("open", "channels to the plugin host", errno);
  }
  // Only on this side: the host sleeps in its calls.
  if (::fcntl(ends.socket_here.get(), F_SETFL, O_NONBLOCK) != 0 ||
      ::fcntl(ends.output_here.get(), F_SETFL, O_NONBLOCK) != 0) {
    return Status::of_errno("set up", "channels to the plugin host", errno);
  }
  return ends;
}

// SpawnPlan: the steps of posix_spawn in the new process before its program begins.
class SpawnPlan {
 public:
  explicit SpawnPlan(const Ends& ends) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_adddup2(&files_, ends.nothing.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files_, ends.output_there.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files_, ends.output_there.get(), STDERR_FILENO);
    ::posix_spawn_file_actions_adddup2(&files_, ends.socket_there.get(), HostProcess::kSocket);
    close_from(files_, HostProcess::kSocket + 1);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  int spawn(const std::string& executable, pid_t& pid) const {
    std::string name = executable;
    char* arguments[] = {name.data(), nullptr};
    return ::posix_spawn(&pid, executable.c_str(), &files_, &attributes_, arguments, environ);
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

std::string describe(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return fmt::format("ended with exit status {}", info.si_status);
  const char* name = ::strsignal(info.si_status);
  return fmt::format("killed by signal {} ({})", info.si_status, name != nullptr ? name : "unknown");
}

}  // namespace

Result<HostProcess> HostProcess::start(const std::string& executable) {
  Result<Ends> made = make_ends();
  if (!made.ok()) return made.status();
  Ends ends = std::move(made).value();
  pid_t pid = 0;
  const int error = SpawnPlan(ends).spawn(executable, pid);
  if (error != 0) return Status::of_errno("start", executable, error);
  restore_descriptor_limit_of(pid);
  // No other process can have the number: this one has not been reaped.
  FileDescriptor pidfd = open_pidfd(pid);
  if (!pidfd.is_open()) {
    const Status status = Status::of_errno("watch", executable, errno);
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return status;
  }
  return HostProcess(pid, std::move(pidfd), std::move(ends.socket_here), std::move(ends.output_here));
}

HostProcess::HostProcess(pid_t pid, FileDescriptor pidfd, FileDescriptor socket, FileDescriptor output)
    : pid_(pid), pidfd_(std::move(pidfd)), socket_(std::move(socket)), output_(std::move(output)) {}

HostProcess::~HostProcess() {
  if (!pidfd_.is_open()) return;
  kill();
  pollfd end{pidfd_.get(), POLLIN, 0};
  while (::poll(&end, 1, kPatience) < 0 && errno == EINTR) continue;
  static_cast<void>(reap());  // else it stays a zombie until this process ends
}

void HostProcess::close_requests() { ::shutdown(socket_.get(), SHUT_WR); }

// The group's number is the process's own, which no other process can have before this one is reaped.
void HostProcess::kill() {
  if (!pidfd_.is_open()) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);  // if the group does not exist yet
}

std::optional<std::string> HostProcess::reap() {
  if (!pidfd_.is_open()) return std::nullopt;
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != EINTR) return std::nullopt;
  }
  if (info.si_pid == 0) return std::nullopt;
  kill();  // processes that it started and left behind
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0 && errno == EINTR) continue;
  pidfd_.close();
  return describe(info);
}

}  // namespace tailrace::impl
