#include "damaris/ranks/signals.hpp"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <set>

namespace tailrace::damaris {
namespace {

constexpr int kTag = 1771;
enum Kind : int32_t { kStop = 1, kEvent = 2, kNoStart = 3, kDeath = 4 };
constexpr double kPoll = 0.005;      // seconds between two looks for messages
constexpr int kLooksForDeaths = 40;  // looks for messages between two looks for clients that died

void rest(double seconds) {
  const timespec time{static_cast<time_t>(seconds), static_cast<long>((seconds - static_cast<long>(seconds)) * 1e9)};
  nanosleep(&time, nullptr);
}

bool has_died(int64_t process) { return kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH; }

// The clients that a dedicated rank hears from.
class Heard {
 public:
  Heard(const Events& events, const Ranks& ranks) {
    for (const auto& [rank, process] : ranks.client_processes()) {
      if (!has_died(process)) processes_.emplace_back(rank, process);  // else processes have other numbers here
    }
    // If an action concerns all servers, each client tells each of them.
    left_ = events.any_for_all() ? ranks.clients() : static_cast<int>(ranks.client_processes().size());
  }

  // Returns false if it was known.
  bool stopped(int rank) {
    if (!gone_.insert(rank).second) return false;
    --left_;
    return true;
  }
  // Returns the clients of this server that have died since the last look.
  std::vector<int> look_for_deaths() {
    std::vector<int> dead;
    for (const auto& [rank, process] : processes_) {
      if (has_died(process) && stopped(rank)) dead.push_back(rank);
    }
    return dead;
  }
  bool all_gone() const { return left_ <= 0; }

 private:
  std::vector<std::pair<int, int64_t>> processes_;
  std::set<int> gone_;
  int left_ = 0;
};

// Runs what is due when a client has raised an event.
void act(Events& events, EventCounts& counts, const Ranks& ranks, const int32_t (&words)[4]) {
  const auto index = static_cast<size_t>(words[1]);
  if (index >= events.count()) return;
  const Scope scope = events.at(index).scope;
  const bool waits = scope == Scope::group || scope == Scope::global;
  const int clients = scope == Scope::global ? ranks.clients() : ranks.clients_of_server();
  if (waits && !counts.add(index, words[3], words[2], clients)) return;
  (void)events.run(index, words[2], words[3]);
}

// If each server waits for all clients, the others have to know of those that only this one sees. The message is so
// short that its sending does not wait for the receiver.
void tell_of_deaths(const std::vector<int>& dead, const Events& events, const Ranks& ranks) {
  if (!events.any_for_all()) return;
  for (const int client : dead) {
    const int32_t words[4] = {kDeath, client, 0, 0};
    for (const int server : ranks.server_ranks()) {
      if (server != ranks.server_rank()) MPI_Send(words, 4, MPI_INT32_T, server, kTag, ranks.all());
    }
  }
}

}  // namespace

void Signals::send(int rank, int32_t kind, int32_t event, int32_t iteration) {
  under_way_.push_back({{kind, event, ranks_.number(), iteration}, MPI_REQUEST_NULL});
  Sent& sent = under_way_.back();
  MPI_Isend(sent.words, 4, MPI_INT32_T, rank, kTag, ranks_.all(), &sent.request);
}

void Signals::raise(const Events& events, size_t event, int64_t iteration) {
  settle(0);
  const Scope scope = events.at(event).scope;
  const bool all = scope == Scope::broadcast || scope == Scope::global;
  const std::vector<int> own = {ranks_.server_rank()};
  for (const int rank : all ? ranks_.server_ranks() : own) {
    send(rank, kEvent, static_cast<int32_t>(event), static_cast<int32_t>(iteration));
  }
}

void Signals::stop(const Events& events, bool started, double seconds) {
  const std::vector<int> own = {ranks_.server_rank()};
  if (ranks_.has_servers()) {
    for (const int rank : events.any_for_all() ? ranks_.server_ranks() : own) {
      send(rank, started ? kStop : kNoStart, 0, 0);
    }
  }
  settle(seconds);
}

// Forgets messages that have been sent.
void Signals::settle(double seconds) {
  for (double waited = 0;; waited += kPoll) {
    under_way_.remove_if([](Sent& sent) {
      int done = 0;
      return MPI_Test(&sent.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0;
    });
    if (under_way_.empty() || waited >= seconds) return;
    rest(kPoll);
  }
}

bool listen(Events& events, const Ranks& ranks) {
  bool started = true;
  Heard heard(events, ranks);
  EventCounts counts;
  for (int looks = 1; !heard.all_gone(); ++looks) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kTag, ranks.all(), &there, &status);
    if (there == 0) {
      if (looks % kLooksForDeaths == 0) tell_of_deaths(heard.look_for_deaths(), events, ranks);
      rest(kPoll);
      continue;
    }
    int32_t words[4] = {};
    MPI_Recv(words, 4, MPI_INT32_T, status.MPI_SOURCE, kTag, ranks.all(), MPI_STATUS_IGNORE);
    if (words[0] != kEvent) (void)heard.stopped(words[0] == kDeath ? words[1] : status.MPI_SOURCE);
    if (words[0] == kNoStart) started = false;
    if (words[0] == kEvent) act(events, counts, ranks, words);
  }
  return started;
}

}  // namespace tailrace::damaris
