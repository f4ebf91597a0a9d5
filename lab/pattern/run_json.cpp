// The document that `pattern run` prints. See run.hpp.
#include <array>
#include <cstdio>
#include <numeric>

#include "lab/pattern/json.hpp"
#include "lab/pattern/run.hpp"

namespace bench {
namespace {

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// Returns only those that the writer uses.
Json switches(const WriteOptions& write) {
  Json json = Json::object();
  if (write.writer == Writer::tailrace) {
    json["verb"] = name_of(write.verb);
    json["buffers"] = name_of(write.buffers);
    if (write.verb == Verb::borrow && write.buffers != Buffers::malloc) json["arrays"] = write.arrays;
    json["place"] = name_of(write.place);
    json["pin"] = write.pin;
    json["direct"] = write.direct;
    json["queue_depth"] = write.queue_depth;
    json["throttle"] = write.throttle;
    json["forwarded"] = !write.forward.empty();
  }
  if (write.writer == Writer::sync || write.writer == Writer::bare) json["direct"] = write.direct;
  if (write.writer == Writer::tailrace || write.writer == Writer::posix_aio) json["budget"] = write.budget;
  return json;
}

Json settings(const RunOptions& options, const RunResult& result) {
  return {{"pattern_run", 1},
          {"writer", name_of(options.write.writer)},
          {"switches", switches(options.write)},
          {"page_cache", result.bypasses_cache ? "bypassed" : "synced"},
          {"compute", options.compute.kernel},
          {"passes", options.passes},
          {"threads", options.compute.threads},
          {"memory", name_of(options.compute.memory)},
          {"iterations", options.write.iterations},
          {"bytes", options.write.bytes},
          {"variables", options.write.variables},
          {"devices", result.devices}};
}

Json per_variable(const RunResult& result) {
  Json json = Json::array();
  for (size_t variable = 0; variable < result.variables.size(); ++variable) {
    const VariableTimes& times = result.variables[variable];
    json.push_back({{"name", "v" + std::to_string(variable)},
                    {"pst_seconds", times.pst},
                    {"write_seconds", times.write},
                    {"excess_seconds", times.excess}});
  }
  return json;
}

void add_times(Json& json, const RunResult& result) {
  json["seconds_total"] = result.total;
  json["seconds_computing"] = sum(result.computing);
  json["seconds_waiting"] = sum(result.waiting);
  json["seconds_computing_each"] = result.computing;
  json["seconds_waiting_each"] = result.waiting;
  json["per_variable"] = per_variable(result);
}

void add_resources(Json& json, const RunOptions& options, const RunResult& result) {
  json["peak_memory_bytes"] = result.peak_memory;
  json["buffer_bytes"] = result.buffer_bytes;
  json["budget_bytes"] = result.budget_bytes;
  std::array<char, 20> hash{};
  std::snprintf(hash.data(), hash.size(), "%016llx", static_cast<unsigned long long>(result.result_hash));
  json["result_hash"] = hash.data();
  if (result.cache_misses) {
    json["cache_misses"] = *result.cache_misses;
  } else {
    json["cache_misses"] = nullptr;
    json["cache_misses_not_available"] = result.cache_misses_reason;
  }
  if (!result.kept.empty()) json["kept"] = result.kept;
  if (!options.trace.empty()) json["trace"] = options.trace;
  if (!result.library_trace.empty()) json["library_trace"] = result.library_trace;
  json["description"] = result.description;
}

}  // namespace

std::string json_of(const RunOptions& options, const RunResult& result) {
  Json json = settings(options, result);
  add_times(json, result);
  add_resources(json, options, result);
  return text_of(json);
}

}  // namespace bench
