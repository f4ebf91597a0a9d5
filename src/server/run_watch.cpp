#include "server/run_watch.hpp"

#include <algorithm>

namespace tailrace::impl {

void RunWatch::came(int client, pid_t process) {
  processes_[client] = process;
  youngest_ = std::max(youngest_, clock_.began(process));
}

void RunWatch::adopted(int client, pid_t process, uint64_t began, bool has_gone) {
  processes_[client] = process;
  youngest_ = std::max(youngest_, began);
  if (has_gone) departed_earlier();
}

void RunWatch::resumed(const RunTimes& run) {
  youngest_ = std::max(youngest_, run.youngest);
  first_departure_ = run.first_departure;
}

void RunWatch::departed() {
  if (!first_departure_) first_departure_ = clock_.now();
}

void RunWatch::departed_before(pid_t process) {
  first_departure_ = std::min(first_departure_.value_or(clock_.now()), clock_.began(process));
}

bool RunWatch::is_served(int client, pid_t process) const {
  const auto found = processes_.find(client);
  return found != processes_.end() && found->second == process;
}

bool RunWatch::is_of_another(pid_t process) const {
  const uint64_t began = clock_.began(process);
  if (began <= youngest_) return false;
  if (first_departure_) return began + clock_.ticks(kDeathIsSeenIn) >= *first_departure_;
  // A process may have died without the server having seen it yet.
  return std::any_of(processes_.begin(), processes_.end(),
                     [this](const auto& entry) { return has_ended(entry.first); });
}

bool RunWatch::is_of(const RunTimes& run, pid_t process) const {
  if (run.youngest > clock_.now()) return false;  // the machine has been started again since
  const uint64_t began = clock_.began(process);
  return began <= run.youngest || began + clock_.ticks(kDeathIsSeenIn) < run.first_departure;
}

}  // namespace tailrace::impl
