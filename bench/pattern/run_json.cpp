// The document that `pattern run` prints. See run.hpp.
#include <array>
#include <cstdio>
#include <numeric>

#include "bench/pattern/json.hpp"
#include "bench/pattern/run.hpp"

namespace bench {
namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// Only those that the writer listens to.
void write_switches(JsonWriter& json, const WriteOptions& write) {
  json.begin_object("switches");
  if (write.writer == Writer::tailrace) {
    json.text("verb", name_of(write.verb));
    json.text("buffers", name_of(write.buffers));
    if (write.verb == Verb::borrow && write.buffers != Buffers::malloc) json.integer("arrays", write.arrays);
    json.text("pin", write.pin);
    json.boolean("direct", write.direct);
    json.integer("queue_depth", write.queue_depth);
  }
  if (write.writer == Writer::sync) json.boolean("direct", write.direct);
  if (write.writer == Writer::tailrace || write.writer == Writer::posix_aio) json.integer("budget", write.budget);
  json.end_object();
}

void write_settings(JsonWriter& json, const RunOptions& options, const RunResult& result) {
  json.integer("pattern_run", 1);
  json.text("writer", name_of(options.write.writer));
  write_switches(json, options.write);
  json.text("page_cache", result.bypasses_cache ? "bypassed" : "synced");
  json.text("compute", options.compute.kernel);
  json.integer("passes", static_cast<int64_t>(options.passes));
  json.integer("threads", options.compute.threads);
  json.text("memory", name_of(options.compute.memory));
  json.integer("iterations", options.write.iterations);
  json.integer("bytes", static_cast<int64_t>(options.write.bytes));
  json.integer("variables", options.write.variables);
  json.integer("devices", static_cast<int64_t>(result.devices));
}

void write_times(JsonWriter& json, const RunResult& result) {
  json.number("seconds_total", result.total);
  json.number("seconds_computing", sum(result.computing));
  json.number("seconds_waiting", sum(result.waiting));
  json.numbers("seconds_computing_each", result.computing);
  json.numbers("seconds_waiting_each", result.waiting);
  json.begin_array("per_variable");
  for (size_t variable = 0; variable < result.variables.size(); ++variable) {
    const VariableTimes& times = result.variables[variable];
    json.begin_object();
    json.text("name", "v" + std::to_string(variable));
    json.numbers("pst_seconds", times.pst);
    json.numbers("write_seconds", times.write);
    json.numbers("excess_seconds", times.excess);
    json.end_object();
  }
  json.end_array();
}

void write_resources(JsonWriter& json, const RunOptions& options, const RunResult& result) {
  json.integer("peak_memory_bytes", static_cast<int64_t>(result.peak_memory));
  json.integer("buffer_bytes", static_cast<int64_t>(result.buffer_bytes));
  json.integer("budget_bytes", static_cast<int64_t>(result.budget_bytes));
  std::array<char, 20> hash{};
  std::snprintf(hash.data(), hash.size(), "%016llx", static_cast<unsigned long long>(result.result_hash));
  json.text("result_hash", hash.data());
  if (result.cache_misses) {
    json.integer("cache_misses", static_cast<int64_t>(*result.cache_misses));
  } else {
    json.null("cache_misses");
    json.text("cache_misses_not_available", result.cache_misses_reason);
  }
  if (!result.kept.empty()) {
    json.begin_array("kept");
    for (const std::string& folder : result.kept) json.text({}, folder);
    json.end_array();
  }
  if (!options.trace.empty()) json.text("trace", options.trace);
  if (!result.library_trace.empty()) json.text("library_trace", result.library_trace);
  json.text("description", result.description);
}

}  // namespace

std::string json_of(const RunOptions& options, const RunResult& result) {
  JsonWriter json;
  json.begin_object();
  write_settings(json, options, result);
  write_times(json, result);
  write_resources(json, options, result);
  json.end_object();
  return json.document();
}

}  // namespace bench
