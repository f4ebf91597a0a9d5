// Processes: watching one until it ends, starting one that lives on by itself, and becoming such a one.
//
// A process is held by its pidfd, so that no other one with the same number is ever mistaken for it. No signal
// handler is installed, and none of the application's is needed: who starts a program waits for that process alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class ProcessHandle {
 public:
  // The process that has the number now. Fails with ESRCH if there is none.
  static Result<ProcessHandle> open(pid_t pid);
  // Takes over a pidfd of the process with that number; none: it has ended.
  ProcessHandle(pid_t pid, FileDescriptor pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid() const { return pid_; }
  // Becomes readable when the process has ended, for everybody who waits. Owned by this.
  int fd() const { return pidfd_.get(); }
  bool alive() const { return !wait_end(Nanoseconds::zero()); }
  // Waits for the end of the process. Returns true if it ended before the deadline.
  bool wait_end(const Deadline& deadline) const;

 private:
  pid_t pid_;
  FileDescriptor pidfd_;
};

// When the process began, in the system's own ticks: with its number, it is that process and no later one. 0: it
// has ended, whether its parent has noticed or not.
uint64_t process_begin(pid_t process);
// How long it has lived, in seconds; 0: gone.
// The present, as process_begin() counts.
uint64_t process_clock();
// A time in the unit of process_begin().
uint64_t process_ticks(Nanoseconds time);
double process_age(pid_t process);

// How a child ended: "exit status 3", "signal 9"; nothing if another part of the program has taken it first.
using HowItEnded = std::optional<std::string>;

struct SpawnOptions {
  std::string program;                 // the path of an executable
  std::vector<std::string> arguments;  // without the name
  std::string output;                  // a file that its stdout and stderr are added to; empty: nowhere
  int inherited = -1;                  // a descriptor that the child gets as kInheritedDescriptor; -1: none
  bool own_output = false;             // tailrace made up the name of `output`: base/os/own_file.hpp
};

constexpr int kInheritedDescriptor = 3;

// A program in a session of its own, with all signals as they are by default, and none of this process's
// descriptors but those named. Its directory and environment are the caller's. It is the caller's child: reap() it.
Result<ProcessHandle> spawn(const SpawnOptions& options);

// Waits for the end of a child and takes it from the system's table. TAILRACE_TIMEOUT if it goes on.
Result<HowItEnded> reap(const ProcessHandle& child, const Deadline& deadline);

// Ends the session of a child that has not been reaped, with all it started. (As long as it has not been, nobody else
// gets its number.)
void kill_session(const ProcessHandle& child);

// For the program that was spawned: goes on in a process that is nobody's child, and ends the one that was started,
// which reap() waits for. To be called before there are threads.
Status detach();

}  // namespace tailrace::impl
