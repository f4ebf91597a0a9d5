#include "bench/core/run_json.hpp"

#include "bench/pattern/json.hpp"

namespace bench::core {
namespace {

void add_filtered(JsonWriter& json, const Filtered& filtered) {
  json.begin_object("filtered");
  json.integer("bytes", static_cast<int64_t>(filtered.bytes));
  json.integer("stored", static_cast<int64_t>(filtered.stored));
  json.number("seconds", filtered.seconds);
  json.integer("chunks", static_cast<int64_t>(filtered.chunks));
  json.integer("relaxed", static_cast<int64_t>(filtered.relaxed));
  json.integer("skipped", static_cast<int64_t>(filtered.skipped));
  json.end_object();
}

void add_process(JsonWriter& json, const RunOptions& options, const SharedRun& shared, int process) {
  const ProcessResult& result = shared.of(process);
  std::vector<double> begin;
  std::vector<double> end;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    begin.push_back(shared.begin(process, iteration));
    end.push_back(shared.end(process, iteration));
  }
  json.begin_object();
  json.number("started", result.started);
  json.number("computed", result.computed);
  json.number("left", result.left);
  json.number("done", result.done);
  json.number("waited_memory", result.waited);
  json.numbers("begin", begin);
  json.numbers("end", end);
  add_filtered(json, result.filtered);
  json.end_object();
}

}  // namespace

std::string json_of(const RunOptions& options, const SharedRun& shared) {
  JsonWriter json;
  json.begin_object();
  json.integer("core_run", 1);
  json.text("way", name_of(options.way));
  json.text("compress", name_of(options.compress));
  json.integer("iterations", options.iterations);
  json.integer("bytes", static_cast<int64_t>(options.bytes));
  json.text("description", shared.of(0).description.data());
  json.begin_array("processes");
  for (int process = 0; process < options.processes; ++process) add_process(json, options, shared, process);
  json.end_array();
  json.end_object();
  return json.document();
}

}  // namespace bench::core
