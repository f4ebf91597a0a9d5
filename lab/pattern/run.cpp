// The loop. See the header.
#include "lab/pattern/run.hpp"

#include <bit>
#include <cmath>
#include <fstream>

#include "lab/pattern/cache_misses.hpp"
#include "lab/pattern/clock.hpp"
#include "lab/pattern/errors.hpp"
#include "lab/pattern/interruption.hpp"
#include "lab/pattern/memory.hpp"
#include "lab/pattern/trace.hpp"
#include "lab/pattern/write/write_worker.hpp"

namespace bench {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr uint64_t kWarmUpPasses = 1000;  // most passes

// FNV-1a over the bytes of the results.
class ResultHash {
 public:
  void add(double result) {
    const auto bits = std::bit_cast<uint64_t>(result);
    for (int byte = 0; byte < 8; ++byte) value_ = (value_ ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

// The simulated program, which goes through the iterations once.
class Program {
 public:
  Program(const RunOptions& options, ComputeWorker& compute, WriteWorker& writer, Trace& trace)
      : options_(options),
        write_(options.write),
        compute_(compute),
        writer_(writer),
        trace_(trace),
        needed_(table()),
        handed_(table()) {}

  void run(RunResult& result) {
    const double start = now();
    for (int iteration = 0; iteration < write_.iterations; ++iteration) {
      double computing = 0;
      double waiting = 0;
      for (int variable = 0; variable < write_.variables; ++variable) {
        stop_if_interrupted();
        step(variable, iteration, computing, waiting);
      }
      const double begin = now();
      writer_.end_iteration(iteration);
      result.computing.push_back(computing);
      result.waiting.push_back(waiting + now() - begin);
    }
    const double begin = now();
    writer_.finish();
    const double end = now();
    result.waiting.back() += end - begin;
    result.total = end - start;
    result.result_hash = hash_.value();
  }

  std::vector<VariableTimes> variable_times(const WriteTimes& times) const {
    std::vector<VariableTimes> all(static_cast<size_t>(write_.variables));
    for (int variable = 0; variable < write_.variables; ++variable) {
      VariableTimes& to = all[static_cast<size_t>(variable)];
      for (int iteration = 0; iteration < write_.iterations; ++iteration) {
        const int again = iteration + writer_.reuse();
        const double pst =
            again < write_.iterations ? needed_[at(variable, again)] - handed_[at(variable, iteration)] : kUnknown;
        const double write = times.seconds(variable, iteration);
        to.pst.push_back(pst);
        to.write.push_back(write);
        to.excess.push_back(std::isnan(pst) || std::isnan(write) ? kUnknown : std::max(0.0, write - pst));
      }
    }
    return all;
  }

 private:
  std::vector<double> table() const {
    return std::vector<double>(static_cast<size_t>(write_.variables) * static_cast<size_t>(write_.iterations));
  }
  size_t at(int variable, int iteration) const {
    return static_cast<size_t>(iteration) * static_cast<size_t>(write_.variables) + static_cast<size_t>(variable);
  }

  // Divides the passes of an iteration among its variables; the first ones get the remainder.
  uint64_t passes_of(int variable) const {
    const auto variables = static_cast<uint64_t>(write_.variables);
    return options_.passes / variables + (static_cast<uint64_t>(variable) < options_.passes % variables ? 1 : 0);
  }

  void step(int variable, int iteration, double& computing, double& waiting) {
    const double begin = now();
    needed_[at(variable, iteration)] = begin;
    char* const block = writer_.block(variable, iteration);
    Span span(trace_, EventKind::compute, "compute", variable, iteration);
    const double given = now();
    compute_.compute(passes_of(variable));
    const double result = compute_.result();
    hash_.add(result);
    stamp(block, write_.block_bytes(), {iteration, variable, result});
    span.end();
    const double computed = now();
    writer_.put(variable, iteration);
    const double handed = now();
    handed_[at(variable, iteration)] = handed;
    computing += computed - given;
    waiting += (given - begin) + (handed - computed);
  }

  const RunOptions& options_;
  const WriteOptions& write_;
  ComputeWorker& compute_;
  WriteWorker& writer_;
  Trace& trace_;
  ResultHash hash_;
  std::vector<double> needed_;  // when the program asked for a block's memory
  std::vector<double> handed_;  // when its hand-over returned
};

// Returns the most events that a run with these options can have.
size_t most_events(const RunOptions& options) {
  if (options.trace.empty()) return 0;
  const auto blocks = static_cast<size_t>(options.write.iterations) * static_cast<size_t>(options.write.variables);
  return 5 * blocks + static_cast<size_t>(options.write.iterations) + 16;
}

// Checks it before the run, not after it.
void check_trace_place(const std::string& name) {
  const auto folder = std::filesystem::absolute(name).parent_path();
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    throw RunError("cannot write the trace '" + name + "': there is no directory '" + folder.string() + "'");
  }
}

void write_trace(const std::string& name, const Trace& trace) {
  std::ofstream file(name);
  file << trace.json("pattern");
  file.close();
  if (!file) throw RunError("cannot write the trace '" + name + "'");
}

// Copies the library's trace beside ours, before its folder is removed. Returns its new name.
std::string keep_library_trace(const std::string& beside, const std::string& from) {
  if (from.empty()) return "";
  const std::string to = std::filesystem::path(beside).replace_extension(".tailrace.json").string();
  std::error_code error;
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, error);
  if (error) throw RunError("cannot copy the trace '" + from + "' to '" + to + "': " + error.message());
  return to;
}

}  // namespace

RunResult run(const RunOptions& options) {
  if (!options.trace.empty()) check_trace_place(options.trace);
  reset_peak_memory();
  RunResult result;
  CacheMisses misses;
  const OutputFolders folders(options.write.directories, options.write.keep);
  // Before the writer opens, so that tailrace sees the computing threads when it looks for a free cpu.
  const auto compute = make_compute_worker(options.compute);
  Trace trace(most_events(options));
  WriteTimes times(options.write.variables, options.write.iterations);
  const auto writer = make_write_worker({options.write, folders, trace, times});
  folders.settle();
  compute->compute(std::min(options.passes, kWarmUpPasses));
  Program program(options, *compute, *writer, trace);
  misses.start();
  program.run(result);
  misses.stop();
  Span span(trace, EventKind::wait, "close", -1, -1);
  writer->close();
  span.end();
  result.variables = program.variable_times(times);
  result.peak_memory = peak_memory();
  result.buffer_bytes = writer->buffer_bytes();
  result.budget_bytes = writer->budget_bytes();
  result.bypasses_cache = writer->bypasses_cache();
  result.devices = folders.count();
  result.description = writer->description();
  result.cache_misses = misses.count();
  result.cache_misses_reason = misses.reason();
  if (options.write.keep) {
    for (const auto& folder : folders.all()) result.kept.push_back(folder.string());
  }
  if (!options.trace.empty()) {
    write_trace(options.trace, trace);
    result.library_trace = keep_library_trace(options.trace, writer->library_trace());
  }
  return result;
}

}  // namespace bench
