#include "runtime/trace_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "runtime/measurements/new_text_file.hpp"

namespace tailrace::impl {
namespace {

using Json = nlohmann::ordered_json;
using What = TraceEvent::What;

constexpr int kProgram = 1;
constexpr int kWriter = 2;

double microseconds(Nanoseconds time) { return static_cast<double>(time.count()) * 1e-3; }

// The name of a call, and true if it hands over data; otherwise it waits.
struct Call {
  const char* verb;
  bool hands_over;
};

Call call_of(What what) {
  switch (what) {
    case What::write: return {"write", true};
    case What::alloc: return {"alloc", true};
    case What::commit: return {"commit", true};
    case What::borrow: return {"borrow", true};
    case What::end_iteration: return {"end_iteration", true};
    case What::wait_ticket: return {"wait", false};
    case What::wait_memory: return {"memory", false};
    case What::flush: return {"flush", false};
    case What::read: return {"read", false};
    case What::close: return {"close", false};
    case What::file_open: return {"file_open", false};
    case What::file_write: return {"file_write", true};
    case What::file_read: return {"file_read", false};
    case What::file_sync: return {"file_sync", false};
    case What::file_close: return {"file_close", false};
    case What::block:
    case What::publish: break;
  }
  TAILRACE_ASSERT(false);
}

// Writes the events of one session one by one: all of them as JSON would take more memory than the session.
class Events {
 public:
  Events(Session& session, NewTextFile& file)
      : config_(session.config()), files_(session.client().files()), file_(file) {}

  void put_all(Session& session) {
    name("process_name", kProgram, fmt::format("{}, client {}", config_.name, session.client_id()));
    name("thread_name", kProgram, "program");
    name("thread_name", kWriter, "tailrace writer");
    for (const TraceEvent& event : session.client_trace().events()) add_call(event);
    for (const TraceEvent& event : session.server_trace().events()) {
      event.what == What::publish ? add_publication(event) : add_block(event);
    }
    add_levels(session.server_trace().events());
  }

 private:
  void put(const Json& event) {
    file_.put(first_ ? "\n" : ",\n");
    file_.put(event.dump(-1, ' ', false, Json::error_handler_t::replace));  // paths need not be UTF-8
    first_ = false;
  }

  void name(const char* what, int thread, const std::string& text) {
    put({{"ph", "M"}, {"pid", pid_}, {"tid", thread}, {"name", what}, {"args", {{"name", text}}}});
  }

  const std::string& variable(const TraceEvent& event) const { return config_.variables[event.variable].name; }
  // Returns the variable or raw file of an event, or "".
  std::string subject(const TraceEvent& event) const {
    if (event.file != 0) return files_.name(event.file);
    return event.variable == TraceEvent::kNone ? "" : variable(event);
  }

  Json arguments(const TraceEvent& event) const {
    Json arguments = Json::object();
    if (event.variable != TraceEvent::kNone) arguments["variable"] = variable(event);
    if (event.file != 0) arguments["file"] = files_.name(event.file);
    if (event.iteration >= 0) arguments["iteration"] = event.iteration;
    if (event.bytes > 0) arguments["bytes"] = event.bytes;
    if (event.failed) arguments["failed"] = true;
    if (event.merged) arguments["merged"] = true;
    return arguments;
  }

  void add_call(const TraceEvent& event) {
    const Call call = call_of(event.what);
    std::string name = call.verb;
    if (const std::string about = subject(event); !about.empty()) name += " " + about;
    put({{"ph", "X"},
         {"pid", pid_},
         {"tid", kProgram},
         {"cat", call.hands_over ? "handover" : "wait"},
         {"name", name},
         {"ts", microseconds(event.start)},
         {"dur", microseconds(event.end - event.start)},
         {"args", arguments(event)}});
  }

  // Adds one span that may overlap others of its kind.
  void add_span(const char* category, const std::string& name, uint64_t id, Nanoseconds from, Nanoseconds to,
                Json arguments) {
    const Json begin = {{"ph", "b"},    {"pid", pid_}, {"tid", kWriter},           {"cat", category},
                        {"name", name}, {"id", id},    {"ts", microseconds(from)}, {"args", std::move(arguments)}};
    const Json end = {{"ph", "e"},    {"pid", pid_}, {"tid", kWriter},        {"cat", category},
                      {"name", name}, {"id", id},    {"ts", microseconds(to)}};
    put(begin);
    put(end);
  }

  void add_block(const TraceEvent& event) {
    const uint64_t id = ++last_id_;
    add_span("queued", subject(event), id, event.start, event.begun, arguments(event));
    add_span("writing", subject(event), id, event.begun, event.end, arguments(event));
  }

  void add_publication(const TraceEvent& event) {
    add_span("publish", "publish", ++last_id_, event.start, event.end, arguments(event));
  }

  // Adds the blocks under way, and the memory of the pool that they hold, each time they change.
  void add_levels(const std::vector<TraceEvent>& server_events) {
    std::vector<std::tuple<Nanoseconds, int64_t, int64_t>> changes;
    for (const TraceEvent& event : server_events) {
      if (event.what != What::block) continue;
      const int64_t bytes = event.in_pool ? static_cast<int64_t>(event.bytes) : 0;
      changes.emplace_back(event.start, 1, bytes);
      changes.emplace_back(event.end, -1, -bytes);
    }
    std::sort(changes.begin(), changes.end());
    int64_t blocks = 0;
    int64_t bytes = 0;
    for (const auto& [when, more_blocks, more_bytes] : changes) {
      blocks += more_blocks;
      bytes += more_bytes;
      add_level("blocks under way", when, {{"blocks", blocks}});
      add_level("memory held", when, {{"bytes", bytes}});
    }
  }

  void add_level(const char* name, Nanoseconds when, Json arguments) {
    put({{"ph", "C"},
         {"pid", pid_},
         {"tid", kWriter},
         {"name", name},
         {"ts", microseconds(when)},
         {"args", std::move(arguments)}});
  }

  const Config& config_;
  const ClientFiles& files_;
  NewTextFile& file_;
  const int64_t pid_ = getpid();
  bool first_ = true;
  uint64_t last_id_ = 0;
};

}  // namespace

Status write_trace(Session& session) {
  NewTextFile file(fmt::format("{}/{}_c{}.trace.json", session.config().storage.paths[0], session.config().name,
                               session.client_id()),
                   "trace");
  const Json about = {{"tailrace_trace", 1},
                      {"tailrace", TAILRACE_VERSION_STRING},
                      {"program", session.config().name},
                      {"client", session.client_id()},
                      {"description", session.description()},
                      {"dropped_events", session.client_trace().lost() + session.server_trace().lost()}};
  file.put(fmt::format("{{\"displayTimeUnit\": \"ms\", \"otherData\": {}, \"traceEvents\": [", about.dump()));
  Events(session, file).put_all(session);
  file.put("\n]}\n");
  return file.publish();
}

}  // namespace tailrace::impl
