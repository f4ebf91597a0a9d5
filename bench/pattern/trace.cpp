// The trace's text. See the header.
#include "bench/pattern/trace.hpp"

#include <unistd.h>

#include "bench/pattern/json.hpp"

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

void metadata(JsonWriter& json, const char* what, const std::string& name) {
  json.begin_object();
  json.text("ph", "M");
  json.text("name", what);
  json.integer("pid", getpid());
  json.integer("tid", kProgram);
  json.begin_object("args");
  json.text("name", name);
  json.end_object();
  json.end_object();
}

void write_event(JsonWriter& json, const Event& event) {
  const std::string variable = event.variable < 0 ? "" : "v" + std::to_string(event.variable);
  json.begin_object();
  json.text("ph", "X");
  json.text("cat", category(event.kind));
  json.text("name", variable.empty() ? event.name : event.name + (" " + variable));
  json.number("ts", 1e6 * event.begin);
  json.number("dur", 1e6 * (event.end - event.begin));
  json.integer("pid", getpid());
  json.integer("tid", kProgram);
  json.begin_object("args");
  if (!variable.empty()) json.text("variable", variable);
  if (event.iteration >= 0) json.integer("iteration", event.iteration);
  if (event.bytes > 0) json.integer("bytes", static_cast<int64_t>(event.bytes));
  json.end_object();
  json.end_object();
}

}  // namespace

std::string Trace::json(const std::string& program) const {
  JsonWriter json;
  json.begin_object();
  json.text("displayTimeUnit", "ms");
  json.begin_object("otherData");
  json.integer("tailrace_trace", 1);
  json.text("program", program);
  json.integer("dropped_events", static_cast<int64_t>(dropped_));
  json.end_object();
  json.begin_array("traceEvents");
  metadata(json, "process_name", program);
  metadata(json, "thread_name", "program");
  for (const Event& event : events_) write_event(json, event);
  json.end_array();
  json.end_object();
  return json.document();
}

}  // namespace bench
