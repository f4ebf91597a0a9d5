#include "lab/core/run_json.hpp"

#include <utility>
#include <vector>

#include "lab/pattern/json.hpp"

namespace bench::core {
namespace {

Json json_of(const Filtered& filtered) {
  return {{"bytes", filtered.bytes},   {"stored", filtered.stored},   {"seconds", filtered.seconds},
          {"chunks", filtered.chunks}, {"relaxed", filtered.relaxed}, {"skipped", filtered.skipped}};
}

Json json_of(const RunOptions& options, const SharedRun& shared, int process) {
  const ProcessResult& result = shared.of(process);
  std::vector<double> begin;
  std::vector<double> end;
  std::vector<double> cpu;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    begin.push_back(shared.begin(process, iteration));
    end.push_back(shared.end(process, iteration));
    cpu.push_back(shared.cpu(process, iteration));
  }
  return {{"started", result.started},
          {"computed", result.computed},
          {"left", result.left},
          {"done", result.done},
          {"waited_memory", result.waited},
          {"begin", begin},
          {"end", end},
          {"cpu", cpu},
          {"filtered", json_of(result.filtered)}};
}

}  // namespace

std::string json_of(const RunOptions& options, const SharedRun& shared) {
  Json processes = Json::array();
  for (int process = 0; process < options.processes; ++process) {
    processes.push_back(json_of(options, shared, process));
  }
  return text_of({{"core_run", 1},
                  {"way", name_of(options.way)},
                  {"compress", name_of(options.compress)},
                  {"iterations", options.iterations},
                  {"bytes", options.bytes},
                  {"description", shared.of(0).description.data()},
                  {"processes", std::move(processes)}});
}

}  // namespace bench::core
