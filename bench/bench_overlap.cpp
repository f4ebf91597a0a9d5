// How much of the output's time is hidden: n iterations of computing C and writing W, at several C/W, by several ways
// to write, against the limit that no schedule can beat: C + W + (n − 1)·max(C, W) (seeds 000, eq. 3.4; design §8).
//
// C and W of the limit are measured in the same rounds: C as the computation without output, W as the plainest good
// synchronous write. The ways are run in turn, round after round, so that what else the machine does hits all alike.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>

#include "bench/options.hpp"
#include "bench/simulated.hpp"
#include "bench/statistics.hpp"

namespace {

using bench::Output;

constexpr Output kOutputs[] = {Output::none, Output::sync_direct, Output::sync_hdf5, Output::tailrace_alloc,
                               Output::tailrace_write};

struct Series {
  std::vector<double> total, computing, waiting;
  uint64_t memory_peak = 0;
  int64_t resident_beside = 0;
};

void measure(double ratio, double write_seconds, const bench::Work& base, int rounds) {
  bench::Work work = base;
  work.passes = bench::calibrate(ratio * write_seconds);
  std::map<Output, Series> series;
  for (int round = 0; round < rounds; ++round) {
    for (const Output output : kOutputs) {
      const bench::Run run = bench::run(work, output);
      series[output].total.push_back(run.total);
      series[output].computing.push_back(run.computing);
      series[output].waiting.push_back(run.waiting);
      series[output].memory_peak = std::max(series[output].memory_peak, run.memory_peak);
      series[output].resident_beside = std::max(series[output].resident_beside, run.resident_beside);
    }
  }
  const double n = work.iterations;
  const double c = bench::summarise(series[Output::none].computing).median / n;
  const double w = bench::summarise(series[Output::sync_direct].waiting).median / n;
  const double copy = bench::warm_memcpy(work.bytes);
  const double limit = c + w + (n - 1) * std::max(c, w);
  std::printf("\nC/W = %.2f: C %.1f ms, W %.1f ms (%.2f GB/s), warm memcpy %.1f ms; limit %.3f s\n", c / w, 1e3 * c,
              1e3 * w, static_cast<double>(work.bytes) / w / 1e9, 1e3 * copy, limit);
  std::printf("  %-24s %9s %19s %9s %9s %10s %9s %10s\n", "", "total s", "least … most", "/ limit", "compute",
              "wait ms/it", "peak MiB", "beside MiB");
  for (const Output output : kOutputs) {
    const Series& of = series[output];
    const bench::Summary total = bench::summarise(of.total);
    const double own_limit = output == Output::tailrace_write ? limit + n * copy : limit;
    std::printf("  %-24s %9.3f %8.3f … %8.3f %9.3f %8.1f%% %10.2f %9.0f %10.1f\n", bench::name_of(output),
                total.median, total.least, total.most, total.median / own_limit,
                100.0 * bench::summarise(of.computing).median / (n * c),
                1e3 * bench::summarise(of.waiting).median / n, static_cast<double>(of.memory_peak) / 1048576.0,
                static_cast<double>(of.resident_beside) / 1048576.0);
  }
}

int measure_all(const bench::Options& options) {
  bench::Work work;
  work.bytes = options.tiny ? uint64_t{1} << 20 : uint64_t{128} << 20;
  work.iterations = options.tiny ? 3 : 16;
  work.dir = options.dir;
  const int rounds = options.tiny ? 1 : 5;
  std::printf(
      "overlap: %d iterations of %llu MiB, median of %d rounds, page cache bypassed, in %s\n"
      "  '/ limit' of `tailrace write` is against the limit and one warm memcpy an iteration;\n"
      "  'compute' is the time computing, in %% of that without output; 'peak' is of the memory budget, 'beside' is\n"
      "  the resident memory that tailrace holds beyond its budget\n",
      work.iterations, static_cast<unsigned long long>(work.bytes >> 20), rounds, options.dir.c_str());
  work.passes = 1;
  bench::run(work, Output::sync_direct);  // warm-up
  std::vector<double> probes;
  for (int i = 0; i < 3; ++i) probes.push_back(bench::run(work, Output::sync_direct).waiting / work.iterations);
  for (const double ratio : {0.5, 1.0, 2.0}) measure(ratio, bench::summarise(probes).median, work, rounds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options =
      bench::parse(argc, argv, "bench_overlap: how much of the output's time tailrace hides, against the limit");
  try {
    return measure_all(options);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "bench_overlap: %s\n", exception.what());
    return 1;
  }
}
