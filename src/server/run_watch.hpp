// RunWatch: tells whether a process belongs to the run that a server serves, or to another one.
//
// The processes of one run begin together. So a process of the next run began after a client of this one had gone.
// The server sees a death a moment after it; kDeathIsSeenIn is the margin. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "model/wire/core_wire.hpp"
#include "server/process_clock.hpp"

namespace tailrace::impl {

inline constexpr Nanoseconds kDeathIsSeenIn = std::chrono::seconds(2);  // on a machine that is busy

class RunWatch {
 public:
  // Borrowed.
  explicit RunWatch(const ProcessClock& clock) : clock_(clock) {}

  // A process of the run has come as that client.
  void came(int client, pid_t process);
  // Adds a client that an earlier server met. `began`: when its process did, as that server noted it; `has_gone`: it
  // has ended, or has said goodbye, at an unknown time.
  void adopted(int client, pid_t process, uint64_t began, bool has_gone);
  // A client has gone.
  void departed();
  // One has gone before this server began.
  void departed_earlier() { first_departure_ = 0; }
  // A process of the next run has come: a client of this one had gone when it began.
  void departed_before(pid_t process);
  // The server is done with the client.
  void dismissed(int client) { processes_.erase(client); }

  // Returns true if that very process is served as that client.
  bool is_served(int client, pid_t process) const;
  // Returns true if the client's process has ended, whether the server has seen it or not.
  bool has_ended(int client) const { return clock_.began(processes_.at(client)) == 0; }
  // Returns true if the process, which is none of those served, belongs to another run.
  bool is_of_another(pid_t process) const;

  // Returns the times by which a later server …
  RunTimes times() const { return {youngest_, first_departure_.value_or(0)}; }
  // … tells whether a process is of the run.
  bool is_of(const RunTimes& run, pid_t process) const;

 private:
  const ProcessClock& clock_;
  std::map<int, pid_t> processes_;  // by client
  uint64_t youngest_ = 0;           // when the last of them began
  // When the first of the run's clients went; 0: before this server began. None: all are here.
  std::optional<uint64_t> first_departure_;
};

}  // namespace tailrace::impl
