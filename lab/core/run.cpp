#include "lab/core/run.hpp"

#include "lab/core/cpus.hpp"
#include "lab/core/field.hpp"
#include "lab/core/processes.hpp"
#include "lab/core/run_json.hpp"
#include "lab/core/shared_run.hpp"
#include "lab/core/way.hpp"
#include "lab/pattern/clock.hpp"
#include "lab/pattern/compute/compute_worker.hpp"
#include "lab/pattern/memory.hpp"

namespace bench::core {
namespace {

void work(const RunOptions& options, SharedRun& shared, int process) {
  const Buffer buffer(options.bytes);
  const std::span<float> own(reinterpret_cast<float*>(buffer.data()), options.bytes / sizeof(float));
  fill(own, process);
  const std::unique_ptr<ComputeWorker> worker = make_compute_worker({});
  const std::unique_ptr<Way> way = make_way(options, process);
  ProcessResult& result = shared.of(process);
  shared.meet();
  result.started = now();
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    const double before = now();
    const double cpu_before = cpu_now();
    worker->compute(options.passes);
    shared.cpu(process, iteration) = cpu_now() - cpu_before;
    const std::span<float> field = way->block(iteration, own);
    mark(field, process, iteration);
    result.computed += now() - before;
    shared.meet();
    shared.begin(process, iteration) = now();
    way->put(iteration, field);
    if (options.flush) way->flush();
    shared.end(process, iteration) = now();
    shared.meet();
  }
  result.left = now();
  way->flush();
  result.done = now();
  way->close();
  result.filtered = way->filtered();
  result.waited = way->waited();
  set_text(result.description, way->description().c_str());
}

}  // namespace

std::unique_ptr<Way> make_way(const RunOptions& options, int process) {
  switch (options.way) {
    case WayKind::memory: return make_memory(options, process);
    case WayKind::posix: return make_posix(options, process);
    case WayKind::hdf5: return make_hdf5(options, process);
    case WayKind::thread:
    case WayKind::core: return make_tailrace(options, process);
  }
  return nullptr;
}

std::string run(const RunOptions& options) {
  if (options.leave_cpu) leave_last_cpu();
  SharedRun shared(options);
  in_processes(options.processes, [&](int process) { work(options, shared, process); });
  return json_of(options, shared);
}

}  // namespace bench::core
