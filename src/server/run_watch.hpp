// RunWatch: knows whether a process belongs to the run that a server serves, or to another one.
//
// The processes of one run begin together, so a process of the next run began after a client of this one had gone.
// The server sees a death a moment after it; kDeathIsSeenIn is the margin. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "model/wire/core_wire.hpp"
#include "server/process_clock.hpp"

namespace tailrace::impl {

inline constexpr Nanoseconds kDeathIsSeenIn = std::chrono::seconds(2);  // on a busy machine

class RunWatch {
 public:
  // Borrows `clock`.
  explicit RunWatch(const ProcessClock& clock) : clock_(clock) {}

  // Notes that a process of the run has come as that client.
  void came(int client, pid_t process);
  // Adds a client that an earlier server met. `began`: when its process began, as that server noted it; `has_gone`:
  // it has ended, or has said goodbye, at an unknown time.
  void adopted(int client, pid_t process, uint64_t began, bool has_gone);
  // Adds the times of the run as an earlier server noted them.
  void resumed(const RunTimes& run);
  // Notes that a client has gone.
  void departed();
  // Notes that a client has gone before this server began.
  void departed_earlier() { first_departure_ = 0; }
  // Notes that a process of the next run has come: a client of this run had left when that process began.
  void departed_before(pid_t process);
  // Forgets a client that the server has finished with.
  void dismissed(int client) { processes_.erase(client); }

  // Returns true if this process is served as that client.
  bool is_served(int client, pid_t process) const;
  // Returns true if the client's process has ended, even if the server has not seen that yet.
  bool has_ended(int client) const { return clock_.began(processes_.at(client)) == 0; }
  // Returns true if the process, which is not one of those served, belongs to another run.
  bool is_of_another(pid_t process) const;

  // Returns the times by which a later server …
  RunTimes times() const { return {youngest_, first_departure_.value_or(0)}; }
  // … tells whether a process is of the run.
  bool is_of(const RunTimes& run, pid_t process) const;

 private:
  const ProcessClock& clock_;
  std::map<int, pid_t> processes_;  // by client
  uint64_t youngest_ = 0;           // when the youngest of them began
  // When the first client of the run went; 0: before this server began. None: no client has gone.
  std::optional<uint64_t> first_departure_;
};

}  // namespace tailrace::impl
