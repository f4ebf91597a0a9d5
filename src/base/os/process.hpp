// Watches processes until they end, starts processes that live on by themselves, and turns this one into such a
// process.
//
// A process is held by its pidfd, so it is never confused with a later process of the same number. Nothing here
// installs a signal handler or needs one of the application's: a caller that starts a program waits for that process
// alone.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// Returns a descriptor that becomes readable when the process that has the number now has ended; where there are no
// pidfds (before Linux 5.3, and in some containers), up to 50 ms later. None, with errno, on failure: ESRCH if there
// is no such process.
FileDescriptor open_pidfd(pid_t pid);

class ProcessHandle {
 public:
  // Opens the process that has the number now. Fails with ESRCH if there is none.
  static Result<ProcessHandle> open(pid_t pid);
  // Takes ownership of the process's pidfd; none: the process has ended.
  ProcessHandle(pid_t pid, FileDescriptor pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid() const { return pid_; }
  // Becomes readable, for all who wait, when the process has ended. Owned by this object.
  int fd() const { return pidfd_.get(); }
  bool alive() const { return !wait_end(Nanoseconds::zero()); }
  // Waits for the end of the process. Returns true if it ended before the deadline.
  bool wait_end(const Deadline& deadline) const;

 private:
  pid_t pid_;
  FileDescriptor pidfd_;
};

// Returns when the process began, in the system's ticks: with the number, it identifies the process. 0 if the process
// has ended, even if its parent has not waited for it yet.
uint64_t process_begin(pid_t process);
// Returns true if the process has ended, or is about to: it runs nothing any more, but may still have its files.
bool process_is_ending(pid_t process);
// Returns the present time, in the unit of process_begin().
uint64_t process_clock();
// Converts a time to the unit of process_begin().
uint64_t process_ticks(Nanoseconds time);
// Returns how long the process has lived, in seconds; 0 if it has ended.
double process_age(pid_t process);

// Returns the directory of the library that contains this code, or of the program if the code is linked into it.
std::string own_directory();

// How a child ended: "exit status 3", "signal 9"; none if another part of the program has waited for it first.
using HowItEnded = std::optional<std::string>;

struct SpawnOptions {
  std::string program;                 // the path of an executable
  std::vector<std::string> arguments;  // without the name
  std::string output;                  // a file to which its stdout and stderr are appended; empty: discarded
  int inherited = -1;                  // a descriptor that the child gets as kInheritedDescriptor; -1: none
  bool own_output = false;             // tailrace chose the name of `output`: base/os/own_file.hpp
};

constexpr int kInheritedDescriptor = 3;

// Plans that a child of posix_spawn closes its descriptors from `first` on. Returns 0, or an error number. Before
// glibc 2.34 these are the descriptors that are open now: the child also gets those that other threads open, without
// O_CLOEXEC, until it is started.
int close_from(posix_spawn_file_actions_t& actions, int first);

// Starts a program in a session of its own, with default signal handling, and with none of this process's descriptors
// except those named. It inherits the caller's directory and environment. The caller must reap() this child.
Result<ProcessHandle> spawn(const SpawnOptions& options);

// Waits for the end of a child and reaps it. Fails with TAILRACE_TIMEOUT if it does not end.
Result<HowItEnded> reap(const ProcessHandle& child, const Deadline& deadline);

// Kills the session of a child that has not been reaped, with all processes in it. (No other process gets the child's
// number before it is reaped.)
void kill_session(const ProcessHandle& child);

// Continues in a process without a parent that waits, and ends the process that was spawned, for which reap() waits.
// Called by the spawned program, before it has threads.
Status detach();

}  // namespace tailrace::impl
