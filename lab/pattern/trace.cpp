// The trace's text. See the header.
#include "lab/pattern/trace.hpp"

#include <unistd.h>

#include <utility>

#include "lab/pattern/json.hpp"

namespace bench {
namespace {

constexpr int kProgram = 1;  // the thread's number in the trace; the library's writer is 2

const char* category(EventKind kind) {
  switch (kind) {
    case EventKind::compute: return "compute";
    case EventKind::handover: return "handover";
    case EventKind::wait: return "wait";
  }
  return "";
}

Json metadata(const char* what, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", getpid()}, {"tid", kProgram}, {"args", {{"name", name}}}};
}

Json json_of(const Event& event) {
  const std::string variable = event.variable < 0 ? "" : "v" + std::to_string(event.variable);
  Json arguments = Json::object();
  if (!variable.empty()) arguments["variable"] = variable;
  if (event.iteration >= 0) arguments["iteration"] = event.iteration;
  if (event.bytes > 0) arguments["bytes"] = event.bytes;
  return {{"ph", "X"},
          {"cat", category(event.kind)},
          {"name", variable.empty() ? event.name : event.name + (" " + variable)},
          {"ts", 1e6 * event.begin},
          {"dur", 1e6 * (event.end - event.begin)},
          {"pid", getpid()},
          {"tid", kProgram},
          {"args", std::move(arguments)}};
}

}  // namespace

std::string Trace::json(const std::string& program) const {
  Json events = {metadata("process_name", program), metadata("thread_name", "program")};
  for (const Event& event : events_) events.push_back(json_of(event));
  return text_of({{"displayTimeUnit", "ms"},
                  {"otherData", {{"tailrace_trace", 1}, {"program", program}, {"dropped_events", dropped_}}},
                  {"traceEvents", std::move(events)}});
}

}  // namespace bench
