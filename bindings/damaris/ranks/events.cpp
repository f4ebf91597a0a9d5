#include "damaris/ranks/events.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "damaris/ranks/failure.hpp"

namespace tailrace::damaris {

std::optional<size_t> Events::find(const std::string& name) const {
  const auto found = std::find_if(events_.begin(), events_.end(), [&](const Event& one) { return one.name == name; });
  return found == events_.end() ? std::nullopt : std::optional<size_t>(found - events_.begin());
}

bool Events::any_for_all() const {
  return std::any_of(events_.begin(), events_.end(), [](const Event& one) {
    return !one.local && (one.scope == Scope::broadcast || one.scope == Scope::global);
  });
}

void Events::bind(const std::string& name, signal_t function) {
  const std::optional<size_t> found = find(name);
  if (found) {
    functions_[*found] = function;
    return;
  }
  events_.push_back({name, "", "", Scope::core, false});
  functions_.push_back(function);
}

signal_t Events::load(size_t index) {
  const Event& event = events_[index];
  void* const library = dlopen(event.library.empty() ? nullptr : event.library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const symbol = library == nullptr ? nullptr : dlsym(library, event.action.c_str());
  if (symbol == nullptr) {
    const char* const why = dlerror();
    say("event '" + event.name + "': the function '" + event.action +
        "' cannot be found: " + (why == nullptr ? "no such symbol" : why));
  }
  return reinterpret_cast<signal_t>(symbol);
}

int Events::run(size_t index, int32_t source, int32_t iteration) {
  if (functions_[index] == nullptr) functions_[index] = load(index);
  if (functions_[index] == nullptr) return DAMARIS_BIND_ERROR;
  functions_[index](events_[index].name.c_str(), source, iteration, "");
  return DAMARIS_OK;
}

}  // namespace tailrace::damaris
