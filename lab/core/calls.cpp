#include "lab/core/calls.hpp"

#include <time.h>
#include <tailrace/tailrace.hpp>

#include "lab/core/cpus.hpp"
#include "lab/core/field.hpp"
#include "lab/core/program_config.hpp"
#include "lab/core/sleeper.hpp"
#include "lab/pattern/clock.hpp"
#include "lab/pattern/errors.hpp"
#include "lab/pattern/json.hpp"
#include "lab/pattern/memory.hpp"

namespace bench::core {
namespace {

constexpr uint64_t kHeavy = uint64_t{16} << 20;  // bytes of a block that keeps the server's cpu busy
constexpr int kBatch = 20;                       // calls during the filtering of such a block
constexpr int kMostBatches = 100;  // most batches; without a limit, a server that is never busy would make it endless
constexpr long kIdle = 1'000'000;  // ns between calls, enough for the server to fall asleep

struct Times {
  std::vector<double> alloc;
  std::vector<double> commit;
  std::vector<double> signal;
  std::vector<double> wake;  // of a bare thread; empty if the server is awake
};

std::string config_of(const CallsOptions& options) {
  const std::string heavy = std::to_string(kHeavy / sizeof(float));
  return "tailrace: 1\nname: calls\nplace: {kind: core}\nmemory: {budget: 128 MiB}\n" + storage(options.dir) +
         "layouts:\n  small: {type: uint8, shape: [4096]}\n  large: {type: uint8, shape: [1048576]}\n"
         "  heavy: {type: float32, shape: [" +
         heavy +
         "]}\n"
         "variables:\n  small: {layout: small}\n  large: {layout: large}\n"
         "  heavy: {layout: heavy, compress: {filter: zstd, level: 9, adaptive: false}}\n";
}

class Caller {
 public:
  Caller(const CallsOptions& options, const char* variable)
      : options_(options),
        variable_(variable),
        heavy_(kHeavy),
        client_(tailrace::open("core_bench", 0, {.text = config_of(options)})) {
    fill(heavy(), 0);
  }

  // Each call finds a server that has been idle for some time, and each wake-up a thread on its cpu.
  Times asleep(const Sleeper& sleeper) {
    Times times;
    for (int i = 0; i < options_.count; ++i) {
      rest();
      handover(times);
      rest();
      signal(times);
      rest();
      times.wake.push_back(sleeper.wake());
      client_.end_iteration(iteration_++);
      client_.flush();
    }
    return times;
  }

  // Makes calls while a block is filtered; calls after its end do not count.
  Times busy() {
    Times times;
    for (int batch = 0; times.alloc.size() < static_cast<size_t>(options_.count); ++batch) {
      require(batch < kMostBatches * (1 + options_.count / kBatch), "keep the server busy while it is called", EBUSY);
      const Times found = one_batch();
      times.alloc.insert(times.alloc.end(), found.alloc.begin(), found.alloc.end());
      times.commit.insert(times.commit.end(), found.commit.begin(), found.commit.end());
      times.signal.insert(times.signal.end(), found.signal.begin(), found.signal.end());
    }
    return times;
  }

  void close() { client_.close(); }

 private:
  std::span<float> heavy() const { return {reinterpret_cast<float*>(heavy_.data()), kHeavy / sizeof(float)}; }

  Times one_batch() {
    const uint64_t before = client_.stats("heavy").blocks_written;
    client_.write("heavy", iteration_, heavy());
    Times times;
    for (int i = 0; i < kBatch; ++i) {
      Times one;
      handover(one);
      signal(one);
      if (client_.stats("heavy").blocks_written != before) break;
      times.alloc.push_back(one.alloc[0]);
      times.commit.push_back(one.commit[0]);
      times.signal.push_back(one.signal[0]);
    }
    client_.end_iteration(iteration_++);
    client_.flush();
    return times;
  }

  void handover(Times& times) {
    double start = now();
    const auto block = client_.alloc<uint8_t>(variable_, iteration_);
    times.alloc.push_back(now() - start);
    block[0] = 1;
    start = now();
    client_.commit(variable_, iteration_);
    times.commit.push_back(now() - start);
  }

  void signal(Times& times) {
    const double start = now();
    client_.signal("event", iteration_);
    times.signal.push_back(now() - start);
  }

  static void rest() {
    const timespec time{0, kIdle};
    nanosleep(&time, nullptr);
  }

  const CallsOptions options_;
  const std::string variable_;
  const Buffer heavy_;
  int64_t iteration_ = 0;
  tailrace::Client client_;
};

Json json_of(const Times& times) {
  return {{"alloc", times.alloc}, {"commit", times.commit}, {"signal", times.signal}, {"wake", times.wake}};
}

}  // namespace

std::string calls(const CallsOptions& options) {
  const Sleeper sleeper(leave_last_cpu());
  Json json = {{"core_calls", 1}};
  for (const char* const variable : {"small", "large"}) {
    Caller caller(options, variable);
    json[variable]["asleep"] = json_of(caller.asleep(sleeper));
    json[variable]["busy"] = json_of(caller.busy());
    caller.close();
  }
  return text_of(json);
}

}  // namespace bench::core
