// EventTally: who has raised which event, and so for whom its actions are due.
//
// Actions of scope `client` are due whenever a client raises the event; those of scope `node` once all clients have
// raised it for the same iteration: all that the node has must have come, and those that are there have raised it.
// Pure book-keeping on the server's thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/config.hpp"

namespace tailrace::impl {

// Actions of one event and scope that are due.
struct DueEvent {
  std::string event;
  int64_t iteration = 0;
  Action::Scope scope = Action::Scope::client;
  std::vector<int32_t> clients;  // who raised it, ascending
};

// Returns true if a `drop` is among the due actions: the iteration must not be stored.
bool drops(const std::vector<Action>& actions, const DueEvent& due);

class EventTally {
 public:
  // Only what `actions` binds is ever due. `expected`: how many clients must have come before anything of scope
  // `node` is.
  explicit EventTally(const std::vector<Action>& actions, size_t expected = 0);

  void join(int client);
  // The client had been there, and had left, before anybody counted.
  void note_left(int client) { came_.insert(client); }
  // May make events due that all others have raised.
  std::vector<DueEvent> leave(int client);
  // Clients that have yet to come are not waited for any more. May make events due that all others have raised.
  std::vector<DueEvent> expect_no_more();
  // `client` has joined. What has been due for the node already is not due again.
  std::vector<DueEvent> raise(int client, const std::string& event, int64_t iteration);
  // Returns true if the event has been due for the node before. Only the latest kPastKept events are remembered.
  bool past(const std::string& event, int64_t iteration) const { return past_.contains({iteration, event}); }
  // `client` will raise nothing more of the iteration: what the others have raised is not kept waiting by it.
  std::vector<DueEvent> pass(int client, int64_t iteration);
  // All have ended the iteration: events of it that not all have raised will never be due.
  void forget(int64_t iteration);

  static constexpr size_t kPastKept = 4096;

 private:
  std::vector<DueEvent> complete();

  // Constant.
  std::set<std::string> of_client_;
  std::set<std::string> of_node_;
  size_t expected_;

  std::set<int> clients_;
  std::set<int> came_;                                               // ever
  std::set<std::pair<int64_t, std::string>> past_;                   // what was due for the node
  std::map<std::pair<int64_t, std::string>, std::set<int>> raised_;  // for the scope `node`; never empty sets
};

}  // namespace tailrace::impl
