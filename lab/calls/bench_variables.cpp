// Measures the cost of a variable: an iteration with many small ones, in the writer's time and until it is written.
//
// In the usual case an iteration is like the one before. In the other case each iteration has its own signal, which
// makes HDF5 describe each file afresh: the cost without reuse. Public headers only.
#include <time.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "lab/calls/options.hpp"
#include "lab/calls/statistics.hpp"
#include "lab/figures.hpp"
#include "tailrace/tailrace.hpp"

namespace {

constexpr size_t kElements = 64;  // of a block: 512 bytes

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Returns the time of all threads but this one: the writer, and the threads of its storage.
double writer_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - seconds_of(CLOCK_THREAD_CPUTIME_ID); }

std::string config_text(const std::string& dir, const std::vector<std::string>& names) {
  std::string text =
      "tailrace: 1\nname: variables\nmemory: {budget: 64 MiB}\nstorage: {existing: replace, path: " + dir +
      "}\nlayouts:\n  small: {type: float64, shape: [" + std::to_string(kElements) + "]}\nvariables:\n";
  for (const std::string& name : names) text += "  " + name + ": {layout: small, unit: K}\n";
  return text;
}

struct Costs {
  bench::Summary writer;  // CPU seconds for an iteration
  bench::Summary until_written;
};

Costs measure(const bench::Options& options, const std::vector<std::string>& names, bool described_anew) {
  const int64_t begin = 1000;  // all numbers have the same number of digits
  const int64_t warm = 3;
  const int64_t end = begin + (options.tiny ? 6 : 43);
  const std::vector<double> values(kElements, 1.5);
  tailrace::Client client = tailrace::open("variables", 0, {.text = config_text(options.dir, names)});
  std::vector<double> writer;
  std::vector<double> until_written;
  for (int64_t iteration = begin; iteration < end; ++iteration) {
    const double start = bench::now();
    const double before = writer_seconds();
    if (described_anew) client.signal("number " + std::to_string(iteration), iteration);
    for (const std::string& name : names) client.write(name, iteration, values);
    client.end_iteration(iteration);
    client.flush();
    if (iteration < begin + warm) continue;
    writer.push_back(writer_seconds() - before);
    until_written.push_back(bench::now() - start);
  }
  client.close();
  return {bench::summarise(writer), bench::summarise(until_written)};
}

// Prints the costs of a variable, and returns them in µs.
nlohmann::json print(const char* what, size_t variables, const Costs& costs) {
  const double each = 1e6 / static_cast<double>(variables);
  std::printf("%-32s %6zu variables: writer %6.2f us each (%.2f to %.2f), until written %6.2f us each\n", what,
              variables, each * costs.writer.median, each * costs.writer.least, each * costs.writer.most,
              each * costs.until_written.median);
  return {{"what", what},
          {"variables", variables},
          {"writer", each * costs.writer.median},
          {"least", each * costs.writer.least},
          {"most", each * costs.writer.most},
          {"until_written", each * costs.until_written.median}};
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv, "bench_variables: what a variable costs the writer");
  std::filesystem::create_directories(options.dir);
  nlohmann::json rows;
  // Tiny, it goes beyond limits: lab/limits.md.
  for (const size_t count : options.tiny ? std::vector<size_t>{20, 4097} : std::vector<size_t>{100, 1000, 10'000}) {
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.push_back("variable_" + std::to_string(i));
    rows.push_back(print("as the iteration before it", count, measure(options, names, false)));
    rows.push_back(print("described by HDF5 each time", count, measure(options, names, true)));
  }
  std::filesystem::remove_all(options.dir);
  return lab::write_figures(options.json, "bench_variables", options.tiny, rows);
}
