// Events: the actions of a description, which run when clients raise events; and the messages that say so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "damaris/include/Damaris.h"
#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

class Events {
 public:
  explicit Events(const std::vector<Event>& events) : events_(events), functions_(events.size(), nullptr) {}

  // Returns the number of the event; none if there is no such one.
  std::optional<size_t> find(const std::string& name) const;
  const Event& at(size_t index) const { return events_[index]; }
  size_t count() const { return events_.size(); }
  // Returns true if an action runs on servers of other clients, too.
  bool any_for_all() const;

  // Binds an event to a function; makes one of scope core if there is none of this name.
  void bind(const std::string& name, signal_t function);

  // Runs the action in this process. Returns a code: DAMARIS_BIND_ERROR if its function cannot be found.
  int run(size_t index, int32_t source, int32_t iteration);

 private:
  signal_t load(size_t index);

  std::vector<Event> events_;
  std::vector<signal_t> functions_;  // by event; nullptr: not looked for yet
};

}  // namespace tailrace::damaris
