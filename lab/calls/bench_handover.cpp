// Measures the caller's cost of handing a block over: write against a warm memcpy of the same bytes, alloc + commit,
// and the submission of a small request. Uses Google Benchmark.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "lab/calls/options.hpp"
#include "lab/calls/statistics.hpp"
#include "tailrace/tailrace.hpp"

namespace {

bench::Options options;
constexpr size_t kHuge = size_t{2} << 20;

std::string config_text(uint64_t bytes, const std::string& budget) {
  return "tailrace: 1\nname: handover\nmemory: {budget: " + budget +
         "}\nstorage: {existing: replace, path: " + options.dir + "}\nlayouts:\n  bytes: {type: uint8, shape: [" +
         std::to_string(bytes) + "]}\nvariables:\n  block: {layout: bytes}\n";
}

std::string raw_config_text() {
  return "tailrace: 1\nname: handover\nmemory: {budget: 128 MiB}\n"
         "storage: {existing: replace, backend: memory, path: " +
         options.dir + "}\nlayouts:\n  bytes: {type: uint8, shape: [1]}\nvariables:\n  block: {layout: bytes}\n";
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

// Times of single calls. They go to Google Benchmark, and their median and worst to counters, since a few rare
// wake-ups of a sleeping core distort the mean.
class Times {
 public:
  explicit Times(benchmark::State& state) : state_(state) {}
  ~Times() {
    const bench::Summary summary = bench::summarise(seconds_);
    state_.counters["median_us"] = 1e6 * summary.median;
    state_.counters["worst_us"] = 1e6 * summary.most;
  }
  Times(const Times&) = delete;
  Times& operator=(const Times&) = delete;
  void add(double seconds) {
    seconds_.push_back(seconds);
    state_.SetIterationTime(seconds);
  }

 private:
  benchmark::State& state_;
  std::vector<double> seconds_;
};

// Beside each write, makes a memcpy of the same bytes into our own memory, in turn. Before either, a block leaves
// and is waited for, so that both find the cache as it is between outputs, not full of the other's dirty lines. The
// pool has room at each call, so the time is that of the hand-over, not of waiting for storage.
void write_block(benchmark::State& state) {
  Times times(state);
  const uint64_t bytes = large_block();
  Touched from(bytes);
  Touched to(bytes);
  std::vector<double> copies;
  std::vector<double> writes;
  tailrace::Client client = tailrace::open("handover", 0, {.text = config_text(bytes, std::to_string(2 * bytes))});
  int64_t iteration = 0;
  for (auto _ : state) {
    client.write("block", iteration, std::span<const uint8_t>(from.data(), bytes));
    client.end_iteration(iteration++);
    client.flush();
    double start = bench::now();
    client.write("block", iteration, std::span<const uint8_t>(from.data(), bytes));
    writes.push_back(bench::now() - start);
    times.add(writes.back());
    client.end_iteration(iteration++);
    client.flush();
    start = bench::now();
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
    copies.push_back(bench::now() - start);
  }
  state.counters["of_memcpy"] = bench::summarise(writes).median / bench::summarise(copies).median;
}

void alloc_commit(benchmark::State& state) {
  Times times(state);
  const auto bytes = static_cast<uint64_t>(state.range(0));
  const std::string budget = std::to_string(std::max<uint64_t>(2 * bytes, 1 << 20));
  tailrace::Client client = tailrace::open("handover", 0, {.text = config_text(bytes, budget)});
  int64_t iteration = 0;
  for (auto _ : state) {
    const double start = bench::now();
    const auto block = client.alloc<uint8_t>("block", iteration);
    block[0] = 1;
    client.commit("block", iteration);
    times.add(bench::now() - start);
    client.end_iteration(iteration++);
    client.flush();
  }
}

// Lends one block in each call: a request with a ticket and no copy, while the writer works on earlier ones.
void submit_request(benchmark::State& state) {
  Times times(state);
  constexpr uint64_t kBytes = 4096;
  const int burst = options.tiny ? 4097 : 1000;  // tiny: beyond a limit, lab/limits.md
  Touched block(kHuge);
  tailrace::Client client = tailrace::open("handover", 0, {.text = config_text(kBytes, "1 MiB")});
  tailrace::Ticket ticket;  // the latest; flush waits for all
  int64_t iteration = 0;
  for (auto _ : state) {
    const double start = bench::now();
    for (int i = 0; i < burst; ++i) {
      ticket = client.borrow("block", iteration, std::span<const uint8_t>(block.data(), kBytes));
    }
    times.add((bench::now() - start) / burst);
    client.end_iteration(iteration++);
    client.flush();
  }
}

// Writes 4 KiB pieces to a raw file in memory, side by side or with gaps, until all have ended: the cost of a request
// for the caller and the writer together, where storage costs only a copy.
void raw_requests(benchmark::State& state) {
  Times times(state);
  constexpr uint64_t kBytes = 4096;
  const auto stride = static_cast<uint64_t>(state.range(0));
  const int count = options.tiny ? 1025 : 20'000;  // tiny: beyond a limit, as above
  Touched block(kHuge);
  const std::span<const uint8_t> bytes(block.data(), kBytes);
  tailrace::Client client = tailrace::open("handover", 0, {.text = raw_config_text()});
  tailrace::File file = client.open_file("requests.raw");
  const auto write_all = [&] {
    for (int i = 0; i < count; ++i) file.write(static_cast<uint64_t>(i) * stride, bytes);
    file.sync();
  };
  write_all();  // touches the file's memory
  std::vector<double> rates;
  for (auto _ : state) {
    const double start = bench::now();
    write_all();
    const double each = (bench::now() - start) / count;
    rates.push_back(1 / each);
    times.add(each);
  }
  state.counters["requests_per_s"] = bench::summarise(rates).median;
  file.close();
}

void list_all() {
  const int rounds = options.tiny ? 2 : 40;
  auto* write = benchmark::RegisterBenchmark("write", write_block);
  write->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(rounds);
  auto* alloc = benchmark::RegisterBenchmark("alloc_commit", alloc_commit);
  alloc->Arg(4096)->Arg(1 << 20)->Arg(static_cast<int64_t>(large_block()));
  auto* submit = benchmark::RegisterBenchmark("submit_request", submit_request);
  auto* raw = benchmark::RegisterBenchmark("raw_requests", raw_requests);
  raw->Arg(4096)->Arg(8192);
  for (auto* benchmark : {alloc, submit, raw}) {
    benchmark->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(rounds);
  }
}

}  // namespace

int main(int argc, char** argv) {
  options = bench::parse(argc, argv, "bench_handover: what handing a block over costs the caller");
  std::filesystem::create_directories(options.dir);
  list_all();
  std::string name = "bench_handover";
  std::string out = "--benchmark_out=" + options.json;
  std::string format = "--benchmark_out_format=json";
  char* arguments[] = {name.data(), out.data(), format.data(), nullptr};
  int count = options.json.empty() ? 1 : 3;
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(options.dir);
  return 0;
}
