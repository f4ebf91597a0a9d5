// See the header.
#include "lab/pattern/measure.hpp"

#include <tailrace/tailrace.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

#include "lab/pattern/clock.hpp"
#include "lab/pattern/interruption.hpp"
#include "lab/pattern/json.hpp"
#include "lab/pattern/memory.hpp"
#include "lab/pattern/write/tailrace_config.hpp"
#include "lab/pattern/write/write_worker.hpp"

namespace bench {
namespace {

// Requests that the library takes at once without waiting for room (its iterations have as many variables).
constexpr int kRequestsAtOnce = 256;
// Iterations that a run's budget holds: enough that the storage never waits, and no more than a run has.
constexpr int kIterationsAtOnce = 3;

Measured regression(const MeasureOptions& options) {
  WriteOptions write = options.write;
  write.iterations = options.count;
  const OutputFolders folders(write.directories, write.keep);
  Trace trace(0);
  WriteTimes times(write.variables, write.iterations);
  const auto writer = make_write_worker({write, folders, trace, times});
  folders.settle();
  Measured measured;
  const double start = now();
  for (int iteration = 0; iteration < write.iterations; ++iteration) {
    stop_if_interrupted();
    for (int variable = 0; variable < write.variables; ++variable) {
      stamp(writer->block(variable, iteration), write.block_bytes(), {iteration, variable, 0});
      writer->put(variable, iteration);
    }
    writer->end_iteration(iteration);
    measured.samples.emplace_back(iteration + 1, now() - start);
  }
  writer->finish();
  writer->close();
  measured.bypasses_cache = writer->bypasses_cache();
  measured.description = writer->description();
  return measured;
}

// The caller while its blocks are written: it waits for memory, or computes until there is some.
class Meanwhile {
 public:
  explicit Meanwhile(const ComputeChoice* choice) : worker_(choice ? make_compute_worker(*choice) : nullptr) {}

  // Returns when fewer than kIterationsAtOnce of the `handed` blocks are not written yet.
  void until_room(tailrace::Client& client, uint64_t handed) {
    if (!worker_) return;  // the next hand-over waits
    while (handed - client.stats().blocks_written >= kIterationsAtOnce) worker_->compute(1);
  }

 private:
  std::unique_ptr<ComputeWorker> worker_;
};

// Hands blocks to tailrace back to back, by alloc and commit or by write, from a pool as large as a run's budget. The
// caller waits for memory or computes most of the time, so a look after each hand-over is often enough.
Measured saturation(const MeasureOptions& options, Verb verb, const ComputeChoice* computing) {
  const WriteOptions& write = options.write;
  const OutputFolders folders(write.directories, write.keep);
  const Buffer buffer(write.bytes);
  const std::span<const uint8_t> data(reinterpret_cast<const uint8_t*>(buffer.data()), write.bytes);
  tailrace::Client client =
      tailrace::open("pattern", 0, {.text = tailrace_config(write, folders, kIterationsAtOnce).text});
  Meanwhile meanwhile(computing);
  folders.settle();
  Measured measured;
  measured.bypasses_cache = write.direct && folders.can_bypass_cache();
  const double start = now();
  const auto note = [&] {
    const tailrace_stats stats = client.stats();
    // Blocks that go through the page cache are written when they are synced, before their iteration is published.
    const uint64_t written = measured.bypasses_cache ? stats.blocks_written : stats.iterations_published;
    while (measured.samples.size() < written)
      measured.samples.emplace_back(measured.samples.size() + 1, now() - start);
  };
  for (int iteration = 0; iteration < options.count; ++iteration) {
    stop_if_interrupted();
    meanwhile.until_room(client, static_cast<uint64_t>(iteration));
    if (verb == Verb::write) {
      client.write("v0", iteration, data);
    } else {
      client.alloc<uint8_t>("v0", iteration);
      client.commit("v0", iteration);
    }
    client.end_iteration(iteration);
    note();
  }
  client.flush();
  note();
  measured.description = client.describe();
  client.close();
  return measured;
}

Measured write_copy(const MeasureOptions& options) {
  const WriteOptions& write = options.write;
  const OutputFolders folders(write.directories, write.keep);
  const Buffer buffer(write.bytes);
  const std::span<const uint8_t> data(reinterpret_cast<const uint8_t*>(buffer.data()), write.bytes);
  tailrace::Client client = tailrace::open("pattern", 0, {.text = tailrace_config(write, folders, 1).text});
  Measured measured;
  for (int iteration = 0; iteration < options.count; ++iteration) {
    stop_if_interrupted();
    client.write("v0", iteration, data);
    client.end_iteration(iteration);
    measured.samples.emplace_back(iteration + 1, client.stats().seconds_copying);
    client.flush();  // not timed
  }
  measured.bypasses_cache = write.direct && folders.can_bypass_cache();
  measured.description = client.describe();
  client.close();
  return measured;
}

Measured request(const MeasureOptions& options) {
  WriteOptions write = options.write;
  write.variables = std::min(options.count, kRequestsAtOnce);
  write.bytes *= static_cast<uint64_t>(write.variables);  // --bytes is the size of one request
  const OutputFolders folders(write.directories, write.keep);
  const Buffer buffer(options.write.bytes);
  const void* const data = buffer.data();
  std::vector<std::string> names;
  for (int variable = 0; variable < write.variables; ++variable) names.push_back("v" + std::to_string(variable));
  tailrace::Client client = tailrace::open("pattern", 0, {.text = tailrace_config(write, folders, 0).text});
  Measured measured;
  double seconds = 0;
  const auto submit = [&](int64_t iteration, int variable) {
    tailrace_ticket ticket{};
    // Uses the C interface, without the type checks of the C++ one.
    const double begin = now();
    const tailrace_status status =
        tailrace_borrow(client.handle(), names[static_cast<size_t>(variable)].c_str(), iteration, data, &ticket);
    seconds += now() - begin;
    tailrace::detail::check(client.handle(), status);
  };
  submit(0, 0);  // the first one opens files, and does not count
  client.end_iteration(0);
  client.flush();
  seconds = 0;
  for (int64_t iteration = 1; static_cast<int>(measured.samples.size()) < options.count; ++iteration) {
    stop_if_interrupted();
    for (int variable = 0; variable < write.variables; ++variable) {
      if (static_cast<int>(measured.samples.size()) == options.count) break;
      submit(iteration, variable);
      measured.samples.emplace_back(measured.samples.size() + 1, seconds);
    }
    client.end_iteration(iteration);
    client.flush();  // between batches, not timed
  }
  measured.description = client.describe();
  client.close();
  measured.bypasses_cache = write.direct && folders.can_bypass_cache();
  return measured;
}

Measured copy(const MeasureOptions& options) {
  const Buffer from(options.write.bytes);
  const Buffer to(options.write.bytes);
  Measured measured;
  double seconds = 0;
  for (int n = 0; n < options.count; ++n) {
    stop_if_interrupted();
    from.data()[n % static_cast<int>(std::min<uint64_t>(options.write.bytes, 4096))] = static_cast<char>(n);
    const double begin = now();
    std::memcpy(to.data(), from.data(), options.write.bytes);
    asm volatile("" : : "r"(to.data()) : "memory");  // keeps the copy, which something may read
    seconds += now() - begin;
    measured.samples.emplace_back(n + 1, seconds);
  }
  measured.bypasses_cache = true;  // it has no files
  measured.description = "memcpy between two touched buffers";
  return measured;
}

}  // namespace

Measured measure(const MeasureOptions& options) {
  switch (options.what) {
    case Measure::regression: return regression(options);
    case Measure::saturation: return saturation(options, Verb::alloc, nullptr);
    case Measure::saturation_busy: return saturation(options, Verb::alloc, &options.compute);
    case Measure::saturation_write: return saturation(options, Verb::write, nullptr);
    case Measure::write_copy: return write_copy(options);
    case Measure::req: return request(options);
    case Measure::copy: return copy(options);
  }
  return {};
}

std::string json_of(const MeasureOptions& options, const Measured& measured) {
  return text_of({{"pattern_measure", 1},
                  {"what", name_of(options.what)},
                  {"bytes", options.write.bytes},
                  {"page_cache", measured.bypasses_cache ? "bypassed" : "synced"},
                  {"devices", options.write.directories.size()},
                  {"samples", measured.samples},
                  {"description", measured.description}});
}

}  // namespace bench
