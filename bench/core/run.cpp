#include "bench/core/run.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <vector>

#include "bench/core/cpus.hpp"
#include "bench/core/field.hpp"
#include "bench/core/run_json.hpp"
#include "bench/core/shared_run.hpp"
#include "bench/core/way.hpp"
#include "bench/pattern/clock.hpp"
#include "bench/pattern/compute/compute_worker.hpp"
#include "bench/pattern/errors.hpp"
#include "bench/pattern/memory.hpp"

namespace bench::core {
namespace {

void work(const RunOptions& options, SharedRun& shared, int process) {
  const Buffer buffer(options.bytes);
  const std::span<float> field(reinterpret_cast<float*>(buffer.data()), options.bytes / sizeof(float));
  fill(field, process);
  const std::unique_ptr<ComputeWorker> worker = make_compute_worker({});
  const std::unique_ptr<Way> way = make_way(options, process);
  ProcessResult& result = shared.of(process);
  shared.meet();
  result.started = now();
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    const double before = now();
    worker->compute(options.passes);
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

// A process of the run, from its fork to its end.
[[noreturn]] void be_process(const RunOptions& options, SharedRun& shared, int process) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // so that none waits at a barrier for ever, whatever happens to the first
  int code = 0;
  try {
    work(options, shared, process);
  } catch (const std::exception& error) {
    set_text(shared.of(process).error, error.what());
    code = 1;
  }
  std::fflush(nullptr);
  _exit(code);
}

// Waits for all; the first that fails ends the others, which would wait for it.
void wait_for(std::vector<pid_t> processes, const SharedRun& shared) {
  std::string failed;
  for (size_t left = processes.size(); left > 0; --left) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    require(ended > 0, "wait for the processes");
    size_t which = 0;
    while (which < processes.size() && processes[which] != ended) ++which;
    if (which == processes.size()) continue;
    processes[which] = 0;
    if (status == 0 || !failed.empty()) continue;
    const char* const said = shared.of(static_cast<int>(which)).error.data();
    failed = "process " + std::to_string(which) + ": " +
             (*said != '\0' ? std::string(said) : "ended with status " + std::to_string(status));
    for (const pid_t other : processes) {
      if (other > 0) kill(other, SIGKILL);
    }
  }
  if (!failed.empty()) throw RunError(failed);
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
  std::vector<pid_t> processes;
  for (int process = 0; process < options.processes; ++process) {
    const pid_t forked = fork();
    if (forked == 0) be_process(options, shared, process);
    if (forked < 0) {
      const int error = errno;
      for (const pid_t other : processes) kill(other, SIGKILL);
      require(false, "start a process", error);
    }
    processes.push_back(forked);
  }
  wait_for(processes, shared);
  return json_of(options, shared);
}

}  // namespace bench::core
