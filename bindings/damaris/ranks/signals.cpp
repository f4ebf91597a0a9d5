#include "damaris/ranks/signals.hpp"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

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

// The clients that a dedicated rank hears from, by their ranks.
class Heard {
 public:
  Heard(const Events& events, const Ranks& ranks) : clients_(ranks.clients()) {
    for (const auto& [rank, process] : ranks.client_processes()) {
      own_.insert(rank);
      if (!has_died(process)) processes_.emplace_back(rank, process);  // else processes have other numbers here
    }
    // If an action concerns all servers, each client tells each of them.
    left_ = events.any_for_all() ? ranks.clients() : static_cast<int>(own_.size());
  }

  void stopped(int rank) { left_ -= gone_.insert(rank).second ? 1 : 0; }
  void died(int rank) {
    if (!gone_.contains(rank)) dead_.insert(rank);
    stopped(rank);
  }
  // Returns the clients of this server that have died since the last look.
  std::vector<int> look_for_deaths() {
    std::vector<int> dead;
    for (const auto& [rank, process] : processes_) {
      if (!has_died(process) || gone_.contains(rank)) continue;
      died(rank);
      dead.push_back(rank);
    }
    return dead;
  }
  bool all_gone() const { return left_ <= 0; }

  // Returns true if all clients are among these, or have died: those of this server, or of all servers.
  bool are_all(std::set<int> raised, Scope scope) const {
    raised.insert(dead_.begin(), dead_.end());
    if (scope == Scope::global) return static_cast<int>(raised.size()) >= clients_;
    return std::includes(raised.begin(), raised.end(), own_.begin(), own_.end());
  }

 private:
  const int clients_;
  std::set<int> own_;
  std::vector<std::pair<int, int64_t>> processes_;
  std::set<int> gone_;  // stopped, or died
  std::set<int> dead_;
  int left_ = 0;
};

// Runs the actions of events that clients have raised.
class Actions {
 public:
  Actions(Events& events, const Heard& heard) : events_(events), heard_(heard) {}

  // `rank` has raised the event, as client `source`.
  void raise(int rank, int32_t event, int32_t source, int32_t iteration) {
    const auto index = static_cast<size_t>(event);
    if (index >= events_.count()) return;
    const Scope scope = events_.at(index).scope;
    if (scope == Scope::core || scope == Scope::broadcast) {
      (void)events_.run(index, source, iteration);
      return;
    }
    Waiting& waiting = waiting_[{index, iteration}];
    waiting.ranks.insert(rank);
    waiting.source = source;
    run_due();
  }

  // Runs what has waited for the last client that had to raise it. That may have been a client that died.
  void run_due() {
    for (auto one = waiting_.begin(); one != waiting_.end();) {
      const auto& [event, iteration] = one->first;
      const bool due = heard_.are_all(one->second.ranks, events_.at(event).scope);
      if (due) (void)events_.run(event, one->second.source, iteration);
      one = due ? waiting_.erase(one) : std::next(one);
    }
  }

 private:
  struct Waiting {
    std::set<int> ranks;  // that have raised it
    int32_t source = 0;   // the last one
  };

  Events& events_;
  const Heard& heard_;
  std::map<std::pair<size_t, int32_t>, Waiting> waiting_;  // by event and iteration
};

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
  Actions actions(events, heard);
  for (int looks = 1; !heard.all_gone(); ++looks) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kTag, ranks.all(), &there, &status);
    if (there == 0) {
      if (looks % kLooksForDeaths == 0) {
        tell_of_deaths(heard.look_for_deaths(), events, ranks);
        actions.run_due();
      }
      rest(kPoll);
      continue;
    }
    int32_t words[4] = {};
    MPI_Recv(words, 4, MPI_INT32_T, status.MPI_SOURCE, kTag, ranks.all(), MPI_STATUS_IGNORE);
    switch (words[0]) {
      case kEvent: actions.raise(status.MPI_SOURCE, words[1], words[2], words[3]); break;
      case kDeath:
        heard.died(words[1]);
        actions.run_due();
        break;
      case kNoStart: started = false; [[fallthrough]];
      default: heard.stopped(status.MPI_SOURCE);
    }
  }
  return started;
}

}  // namespace tailrace::damaris
