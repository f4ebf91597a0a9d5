#include "base/os/process.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "base/os/own_file.hpp"
#include "base/os/signals_blocked.hpp"

namespace tailrace::impl {
namespace {

constexpr int kLook = 50;         // ms
constexpr int kAboveTheFew = 10;  // our descriptors stay above those that the child gets

// The two arguments of posix_spawn, parts of which the C library owns.
class SpawnPlan {
 public:
  SpawnPlan() {
    TAILRACE_ASSERT(posix_spawn_file_actions_init(&actions) == 0);
    TAILRACE_ASSERT(posix_spawnattr_init(&attributes) == 0);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

Result<FileDescriptor> open_for_output(const std::string& path, int flags) {
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  if (!file.is_open()) return Status::of_errno("open", path, errno);
  return file;
}

Result<FileDescriptor> open_output(const std::string& path, bool own) {
  const std::string name = path.empty() ? "/dev/null" : path;
  const int flags = O_WRONLY | O_CREAT | O_APPEND;
  const Result<FileDescriptor> file = own ? open_own_file(name, flags, 0600) : open_for_output(name, flags);
  if (!file.ok()) return file.status();
  FileDescriptor above(fcntl(file.value().get(), F_DUPFD_CLOEXEC, kAboveTheFew));
  if (!above.is_open()) return Status::of_errno("duplicate", name, errno);
  return above;
}

// Our `output` and `inherited` lie above all numbers used here, so the order of the steps does not matter.
void plan_descriptors(SpawnPlan& plan, int output, int inherited) {
  auto* actions = &plan.actions;
  int failed = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  failed |= posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
  failed |= posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO);
  int first_closed = kInheritedDescriptor;
  if (inherited >= 0) {
    failed |= posix_spawn_file_actions_adddup2(actions, inherited, kInheritedDescriptor);
    ++first_closed;
  }
  failed |= close_from(*actions, first_closed);
  TAILRACE_ASSERT(failed == 0);  // only ENOMEM and EBADF (of a negative number) are possible
}

void plan_signals(SpawnPlan& plan) {
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  int failed =
      posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  failed |= posix_spawnattr_setsigmask(&plan.attributes, &none);
  failed |= posix_spawnattr_setsigdefault(&plan.attributes, &all);
  TAILRACE_ASSERT(failed == 0);
}

std::string describe(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return fmt::format("exit status {}", info.si_status);
  return fmt::format("signal {}", info.si_status);
}

// Fields of /proc/<process>/stat behind the process's name, see proc(5).
enum StatField : size_t { kState = 0, kFlags = 6, kBegin = 19, kStatFields = 20 };

// Returns these fields; none if there is no such process. The name may contain anything, also parentheses and
// newlines.
std::vector<std::string> stat_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text, '\0');  // does not throw if the process ends meanwhile, as the stream's buffer does
  const size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return {};
  std::istringstream rest(text.substr(end_of_name + 1));
  std::vector<std::string> fields(kStatFields);
  for (std::string& field : fields) rest >> field;
  return fields;
}

// Returns what stands for a pidfd: a socket whose other end a thread closes when the process has ended. The thread
// looks for that now and then, as long as anyone has the socket.
FileDescriptor watch_by_looking(pid_t pid) {
  int ends[2] = {-1, -1};
  if (::kill(pid, 0) != 0 && errno != EPERM) return {};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  const SignalsBlocked blocked;
  std::thread([pid, begin = process_begin(pid), told = FileDescriptor(ends[1])] {
    pollfd end{told.get(), 0, 0};
    while (begin != 0 && process_begin(pid) == begin && ::poll(&end, 1, kLook) == 0) continue;
    ::shutdown(told.get(), SHUT_RDWR);  // a forked child of the application may have it, too
  }).detach();
  return FileDescriptor(ends[0]);
}

}  // namespace

FileDescriptor open_pidfd(pid_t pid) {
  // The C library's function is not usable from C++ in its version 2.36.
  FileDescriptor pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  // The kernel never answers EPERM: that is the seccomp filter of a container that does not know the call.
  const bool has_none = !pidfd.is_open() && (errno == ENOSYS || errno == EPERM);
  return has_none ? watch_by_looking(pid) : std::move(pidfd);
}

Result<ProcessHandle> ProcessHandle::open(pid_t pid) {
  FileDescriptor pidfd = open_pidfd(pid);
  if (!pidfd.is_open()) return Status::of_errno("watch", fmt::format("process {}", pid), errno);
  return ProcessHandle(pid, std::move(pidfd));
}

bool ProcessHandle::wait_end(const Deadline& deadline) const {
  return !pidfd_.is_open() || wait_for_events(pidfd_.get(), POLLIN, deadline) != 0;
}

int close_from(posix_spawn_file_actions_t& actions, int first) {
  using CloseFrom = int(posix_spawn_file_actions_t*, int);
  static const auto close_from =
      reinterpret_cast<CloseFrom*>(::dlsym(RTLD_DEFAULT, "posix_spawn_file_actions_addclosefrom_np"));
  if (close_from != nullptr) return close_from(&actions, first);
  int failed = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    if (fd >= first) failed |= posix_spawn_file_actions_addclose(&actions, fd);
  }
  return failed;
}

Result<ProcessHandle> spawn(const SpawnOptions& options) {
  const Result<FileDescriptor> output = open_output(options.output, options.own_output);
  if (!output.ok()) return output.status();
  FileDescriptor inherited;
  if (options.inherited >= 0) {
    inherited = FileDescriptor(fcntl(options.inherited, F_DUPFD_CLOEXEC, kAboveTheFew));
    if (!inherited.is_open()) return Status::of_errno("duplicate", "a descriptor for " + options.program, errno);
  }
  SpawnPlan plan;
  plan_descriptors(plan, output.value().get(), inherited.get());
  plan_signals(plan);
  std::vector<char*> arguments{const_cast<char*>(options.program.c_str())};
  for (const std::string& argument : options.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error =
      posix_spawn(&pid, options.program.c_str(), &plan.actions, &plan.attributes, arguments.data(), environ);
  if (error != 0) return Status::of_errno("start", options.program, error);
  Result<ProcessHandle> child = ProcessHandle::open(pid);
  if (child.ok()) return child;
  // The child has ended, and the application lets the system discard its children.
  if (child.status().fault().system_errno == ESRCH) return ProcessHandle(pid, FileDescriptor());
  ::kill(-pid, SIGKILL);
  waitid(P_PID, static_cast<id_t>(pid), nullptr, WEXITED);
  return child;
}

uint64_t process_begin(pid_t process) {
  const std::vector<std::string> fields = stat_of(process);
  const bool has_ended = fields.empty() || fields[kState] == "Z" || fields[kState] == "X";
  return has_ended ? 0 : std::strtoull(fields[kBegin].c_str(), nullptr, 10);
}

bool process_is_ending(pid_t process) {
  constexpr uint64_t kExiting = 4;  // PF_EXITING of Linux
  const std::vector<std::string> fields = stat_of(process);
  return fields.empty() || (std::strtoull(fields[kFlags].c_str(), nullptr, 10) & kExiting) != 0;
}

uint64_t process_ticks(Nanoseconds time) {
  return static_cast<uint64_t>(std::chrono::duration<double>(time).count() *
                               static_cast<double>(sysconf(_SC_CLK_TCK)));
}

uint64_t process_clock() {
  timespec now{};
  if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  return process_ticks(std::chrono::seconds(now.tv_sec) + Nanoseconds(now.tv_nsec));
}

double process_age(pid_t process) {
  const uint64_t began = process_begin(process);
  timespec now{};
  if (began == 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  const double up = static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  return std::max(0.0, up - static_cast<double>(began) / static_cast<double>(sysconf(_SC_CLK_TCK)));
}

Result<HowItEnded> reap(const ProcessHandle& child, const Deadline& deadline) {
  if (!child.wait_end(deadline)) {
    return Status(TAILRACE_TIMEOUT, fmt::format("process {} has not ended within {} ms", child.pid(),
                                                deadline.limit() / std::chrono::milliseconds(1)));
  }
  siginfo_t info{};
  int result = 0;
  do {
    result = waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOHANG);
  } while (result != 0 && errno == EINTR);
  if (result == 0 && info.si_pid == child.pid()) return HowItEnded(describe(info));
  if (result == 0 || errno == ECHILD) return HowItEnded();  // the application waits for any child, or for none
  return Status::of_errno("wait for", fmt::format("process {}", child.pid()), errno);
}

void kill_session(const ProcessHandle& child) { ::kill(-child.pid(), SIGKILL); }

std::string own_directory() {
  Dl_info info{};
  link_map* object = nullptr;
  void* here = reinterpret_cast<void*>(&own_directory);
  const int found = dladdr1(here, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP);
  // The link map has no name for the program itself.
  const bool is_library = found != 0 && object != nullptr && object->l_name[0] != '\0';
  std::error_code error;
  const std::filesystem::path own = std::filesystem::canonical(is_library ? object->l_name : "/proc/self/exe", error);
  return error ? "." : own.parent_path().string();
}

Status detach() {
  const pid_t pid = fork();
  if (pid < 0) return Status::of_errno("fork", "this process", errno);
  if (pid > 0) _exit(0);
  return {};
}

}  // namespace tailrace::impl
