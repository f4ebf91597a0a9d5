#include "action/event_tally.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace tailrace::impl {

bool drops(const std::vector<Action>& actions, const DueEvent& due) {
  return std::any_of(actions.begin(), actions.end(), [&](const Action& action) {
    return action.run == Action::Run::drop && action.event == due.event && action.scope == due.scope;
  });
}

EventTally::EventTally(const std::vector<Action>& actions, size_t expected) : expected_(expected) {
  for (const Action& action : actions) {
    (action.scope == Action::Scope::client ? of_client_ : of_node_).insert(action.event);
  }
}

void EventTally::join(int client) {
  // A client that comes again may number its iterations from the beginning.
  if (!came_.insert(client).second) {
    past_.clear();
    past_order_.clear();
  }
  clients_.insert(client);
}

std::vector<DueEvent> EventTally::leave(int client) {
  clients_.erase(client);
  return clients_.empty() ? std::vector<DueEvent>() : complete();
}

std::vector<DueEvent> EventTally::expect_no_more() {
  expected_ = 0;
  return clients_.empty() ? std::vector<DueEvent>() : complete();
}

std::vector<DueEvent> EventTally::raise(int client, const std::string& event, int64_t iteration) {
  TAILRACE_REQUIRE(clients_.count(client) == 1);
  std::vector<DueEvent> due;
  if (of_client_.count(event) == 1) due.push_back({event, iteration, Action::Scope::client, {client}});
  if (of_node_.count(event) == 0 || past(event, iteration)) return due;
  raised_[{iteration, event}].insert(client);
  for (DueEvent& one : complete()) due.push_back(std::move(one));
  return due;
}

std::vector<DueEvent> EventTally::pass(int client, int64_t iteration) {
  for (auto& [of, by] : raised_) {
    if (of.first == iteration) by.insert(client);
  }
  return complete();
}

void EventTally::forget(int64_t iteration) {
  std::erase_if(raised_, [&](const auto& entry) { return entry.first.first == iteration; });
}

// Removes and returns the events that all clients have raised. They also name clients that raised them and have left.
std::vector<DueEvent> EventTally::complete() {
  std::vector<DueEvent> due;
  if (came_.size() < expected_) return due;
  for (auto i = raised_.begin(); i != raised_.end();) {
    const std::set<int>& by = i->second;
    if (!std::includes(by.begin(), by.end(), clients_.begin(), clients_.end())) {
      ++i;
      continue;
    }
    due.push_back({i->first.second, i->first.first, Action::Scope::node, {by.begin(), by.end()}});
    if (past_.insert(i->first).second) past_order_.push_back(i->first);
    i = raised_.erase(i);
    if (past_order_.size() <= kPastKept) continue;
    past_.erase(past_order_.front());
    past_order_.pop_front();
  }
  return due;
}

}  // namespace tailrace::impl
