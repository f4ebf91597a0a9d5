// EventTally: counts which clients have raised which event, to decide when its actions are due.
//
// Actions of scope `client` are due whenever a client raises the event. Those of scope `node` are due when all
// clients have raised it for the same iteration: all of the node's clients have come, and those present have raised
// it. Pure book-keeping on the server's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/config/action.hpp"

namespace tailrace::impl {

// Actions of one event and scope that are due.
struct DueEvent {
  std::string event;
  int64_t iteration = 0;
  Action::Scope scope = Action::Scope::client;
  std::vector<int32_t> clients;  // clients that raised it, ascending
};

// Returns true if a `drop` is among the due actions: the iteration must not be stored.
bool drops(const std::vector<Action>& actions, const DueEvent& due);

class EventTally {
 public:
  // Only events that `actions` binds are ever due. Events of scope `node` are not due before `expected` clients have
  // come.
  explicit EventTally(const std::vector<Action>& actions, size_t expected = 0);

  void join(int client);
  // Notes a client that had come and left before this tally existed.
  void note_left(int client) { came_.insert(client); }
  // Removes a client. Returns the events that are now due because all others have raised them.
  std::vector<DueEvent> leave(int client);
  bool has_clients() const { return !clients_.empty(); }
  // Stops waiting for clients that have not come. Returns the events that are now due because all others have raised
  // them.
  std::vector<DueEvent> expect_no_more();
  // Notes an event of `client`, which has joined. An event that was due for the node is not due again.
  std::vector<DueEvent> raise(int client, const std::string& event, int64_t iteration);
  // Returns true if the event was due for the node before. Only the latest kPastKept events are remembered.
  bool past(const std::string& event, int64_t iteration) const { return past_.contains({iteration, event}); }
  // Notes that `client` raises nothing more of the iteration, so that events of the others do not wait for it.
  std::vector<DueEvent> pass(int client, int64_t iteration);
  // Forgets an iteration that all have ended: its incomplete events will never be due.
  void forget(int64_t iteration);

  static constexpr size_t kPastKept = 4096;

 private:
  std::vector<DueEvent> complete();

  // Constant.
  std::set<std::string> of_client_;
  std::set<std::string> of_node_;
  size_t expected_;

  std::set<int> clients_;
  std::set<int> came_;                                               // all clients so far
  std::set<std::pair<int64_t, std::string>> past_;                   // events that were due for the node …
  std::deque<std::pair<int64_t, std::string>> past_order_;           // … in the order in which they were
  std::map<std::pair<int64_t, std::string>, std::set<int>> raised_;  // for the scope `node`; never empty sets
};

}  // namespace tailrace::impl
