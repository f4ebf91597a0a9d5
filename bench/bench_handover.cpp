// What handing a block over costs the caller: write against a warm memcpy of the same bytes, alloc + commit, and the
// submission of a small request. By Google Benchmark.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "bench/options.hpp"
#include "bench/statistics.hpp"
#include "tailrace/tailrace.hpp"

namespace {

bench::Options options;
constexpr size_t kHuge = size_t{2} << 20;

std::string config_text(uint64_t bytes, const std::string& budget) {
  return "tailrace: 1\nname: handover\nmemory: {budget: " + budget + "}\nstorage: {path: " + options.dir +
         "}\nlayouts:\n  bytes: {type: uint8, shape: [" + std::to_string(bytes) +
         "]}\nvariables:\n  block: {layout: bytes}\n";
}

uint64_t large_block() { return options.tiny ? uint64_t{1} << 20 : uint64_t{128} << 20; }

class Touched {
 public:
  explicit Touched(size_t size) : data_(static_cast<uint8_t*>(std::aligned_alloc(kHuge, size))) {
    madvise(data_, size, MADV_HUGEPAGE);
    std::memset(data_, 1, size);
  }
  ~Touched() { std::free(data_); }
  Touched(const Touched&) = delete;
  Touched& operator=(const Touched&) = delete;
  uint8_t* data() { return data_; }

 private:
  uint8_t* data_;
};

void warm_memcpy(benchmark::State& state) {
  const uint64_t bytes = large_block();
  Touched from(bytes);
  Touched to(bytes);
  for (auto _ : state) {
    const double start = bench::now();
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
    state.SetIterationTime(bench::now() - start);
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes * state.iterations()));
}

// The pool has room at each call: what is timed is the hand-over, not waiting for storage.
void write_block(benchmark::State& state) {
  const uint64_t bytes = large_block();
  Touched from(bytes);
  tailrace::Client client = tailrace::open("handover", 0, {.text = config_text(bytes, std::to_string(2 * bytes))});
  int64_t iteration = 0;
  for (auto _ : state) {
    const double start = bench::now();
    client.write("block", iteration, std::span<const uint8_t>(from.data(), bytes));
    state.SetIterationTime(bench::now() - start);
    client.end_iteration(iteration++);
    client.flush();
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes * state.iterations()));
}

void alloc_commit(benchmark::State& state) {
  const auto bytes = static_cast<uint64_t>(state.range(0));
  const std::string budget = std::to_string(std::max<uint64_t>(2 * bytes, 1 << 20));
  tailrace::Client client = tailrace::open("handover", 0, {.text = config_text(bytes, budget)});
  int64_t iteration = 0;
  for (auto _ : state) {
    const double start = bench::now();
    const auto block = client.alloc<uint8_t>("block", iteration);
    block[0] = 1;
    client.commit("block", iteration);
    state.SetIterationTime(bench::now() - start);
    client.end_iteration(iteration++);
    client.flush();
  }
}

// One borrow each: a request with a ticket and no copy, while the writer works on those before.
void submit_request(benchmark::State& state) {
  constexpr uint64_t kBytes = 4096;
  constexpr int kBurst = 1000;
  Touched block(kHuge);
  tailrace::Client client = tailrace::open("handover", 0, {.text = config_text(kBytes, "1 MiB")});
  tailrace::Ticket ticket;  // the latest; flush waits for all
  int64_t iteration = 0;
  for (auto _ : state) {
    const double start = bench::now();
    for (int i = 0; i < kBurst; ++i) {
      ticket = client.borrow("block", iteration, std::span<const uint8_t>(block.data(), kBytes));
    }
    state.SetIterationTime((bench::now() - start) / kBurst);
    client.end_iteration(iteration++);
    client.flush();
  }
}

void list_all() {
  const int repeats = options.tiny ? 1 : 7;
  const int rounds = options.tiny ? 1 : 5;
  for (auto* benchmark : {benchmark::RegisterBenchmark("warm_memcpy", warm_memcpy),
                          benchmark::RegisterBenchmark("write", write_block)}) {
    benchmark->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(rounds)->Repetitions(repeats);
    benchmark->ReportAggregatesOnly(!options.tiny);
  }
  auto* alloc = benchmark::RegisterBenchmark("alloc_commit", alloc_commit);
  alloc->Arg(4096)->Arg(1 << 20)->Arg(static_cast<int64_t>(large_block()));
  auto* submit = benchmark::RegisterBenchmark("submit_request", submit_request);
  for (auto* benchmark : {alloc, submit}) {
    benchmark->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(rounds * 4)->Repetitions(repeats);
    benchmark->ReportAggregatesOnly(!options.tiny);
  }
}

}  // namespace

int main(int argc, char** argv) {
  options = bench::parse(argc, argv, "bench_handover: what handing a block over costs the caller");
  std::filesystem::create_directories(options.dir);
  list_all();
  char name[] = "bench_handover";
  char* arguments[] = {name, nullptr};
  int count = 1;
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(options.dir);
  return 0;
}
