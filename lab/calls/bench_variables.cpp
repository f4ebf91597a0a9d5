// Measures the cost of a variable: what open takes with many of them, the first iteration, and later ones, in both
// places, for the caller and until all is written.
//
// In the usual case an iteration is like the one before. In the other case each iteration has its own signal, which
// makes HDF5 describe each file afresh: the cost without reuse. Public headers only.
#include <time.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "lab/calls/options.hpp"
#include "lab/calls/statistics.hpp"
#include "lab/figures.hpp"
#include "tailrace/tailrace.hpp"

namespace {

constexpr size_t kElements = 64;  // of a block: 512 bytes
constexpr const char* kAlike = "as the iteration before it";
constexpr const char* kDescribed = "described by HDF5 each time";

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Returns the time of all threads but this one: the writer, and the threads of its storage. In place core they are in
// another process.
double writer_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID) - seconds_of(CLOCK_THREAD_CPUTIME_ID); }

// A measurement: `runs` clients one after another, each with a first iteration and `iterations` later ones.
struct Case {
  const char* what;
  const char* place;
  size_t variables;
  int runs;
  int iterations;
};

std::vector<Case> cases_of(bool tiny) {
  if (tiny) {  // beyond limits: lab/limits.md
    return {{kAlike, "thread", 20, 1, 3}, {kAlike, "thread", 4097, 1, 1},   {kAlike, "core", 20, 1, 3},
            {kAlike, "core", 4097, 1, 1}, {kDescribed, "thread", 20, 1, 3}, {kDescribed, "thread", 4097, 1, 1}};
  }
  return {
      {kAlike, "thread", 100, 5, 20},      {kAlike, "thread", 1000, 5, 10},     {kAlike, "thread", 10'000, 5, 6},
      {kAlike, "thread", 100'000, 3, 4},   {kAlike, "core", 100, 5, 20},        {kAlike, "core", 1000, 5, 10},
      {kAlike, "core", 10'000, 5, 6},      {kAlike, "core", 100'000, 3, 4},     {kDescribed, "thread", 100, 1, 10},
      {kDescribed, "thread", 1000, 1, 10}, {kDescribed, "thread", 10'000, 1, 4}};
}

// Each client has a name of its own, so that it starts its server in place core.
std::string config_text(const std::string& dir, const Case& of, int run, const std::vector<std::string>& names) {
  std::string text = "tailrace: 1\nname: variables" + std::to_string(run) + "\nplace: {kind: " + of.place +
                     "}\nmemory: {budget: 64 MiB}\nstorage: {existing: replace, path: " + dir +
                     "}\nlayouts:\n  small: {type: float64, shape: [" + std::to_string(kElements) +
                     "]}\nvariables:\n";
  for (const std::string& name : names) text += "  " + name + ": {layout: small, unit: K}\n";
  return text;
}

// Seconds, for each client or iteration.
struct Costs {
  std::vector<double> open;
  std::vector<double> first;  // the first iteration, until it is written
  // For each later one:
  std::vector<double> caller;  // until end_iteration returns
  std::vector<double> until_written;
  std::vector<double> writer;  // its CPU time, in place thread
};

void run_client(const std::string& dir, const Case& of, int run, Costs& costs) {
  std::vector<std::string> names;
  for (size_t i = 0; i < of.variables; ++i) names.push_back("variable_" + std::to_string(i));
  const std::vector<double> values(kElements, 1.5);
  const std::string text = config_text(dir, of, run, names);
  double start = bench::now();
  tailrace::Client client = tailrace::open("variables", 0, {.text = text});
  costs.open.push_back(bench::now() - start);
  const int64_t begin = 1000;  // all numbers have the same number of digits
  for (int64_t iteration = begin; iteration <= begin + of.iterations; ++iteration) {
    start = bench::now();
    const double before = writer_seconds();
    if (std::string(of.what) == kDescribed) client.signal("number " + std::to_string(iteration), iteration);
    for (const std::string& name : names) client.write(name, iteration, values);
    client.end_iteration(iteration);
    const double handed_over = bench::now();
    client.flush();
    const double written = bench::now();
    if (iteration == begin) {
      costs.first.push_back(written - start);
      continue;
    }
    costs.caller.push_back(handed_over - start);
    costs.until_written.push_back(written - start);
    costs.writer.push_back(writer_seconds() - before);
  }
  client.close();
}

// A server in place core removes its lock after its client has left.
void remove_directory(const std::string& dir) {
  std::error_code error;
  do {
    std::filesystem::remove_all(dir, error);
  } while (error == std::errc::no_such_file_or_directory);
}

Costs measure(const std::string& dir, const Case& of) {
  Costs costs;
  for (int run = 0; run < of.runs; ++run) {
    remove_directory(dir);
    std::filesystem::create_directories(dir);
    run_client(dir, of, run, costs);
  }
  return costs;
}

// Prints the median, least and most of some times, and returns them.
nlohmann::json print(const char* what, const std::vector<double>& seconds, double unit) {
  const bench::Summary summary = bench::summarise(seconds);
  std::printf("  %s %.2f (%.2f to %.2f)", what, summary.median / unit, summary.least / unit, summary.most / unit);
  return {{"median", summary.median / unit}, {"least", summary.least / unit}, {"most", summary.most / unit}};
}

// Returns `open` in ms, all others in us for each variable.
nlohmann::json print(const Case& of, const Costs& costs) {
  const double each = 1e-6 * static_cast<double>(of.variables);
  std::printf("%s, place %s, %zu variables:\n", of.what, of.place, of.variables);
  nlohmann::json row = {{"what", of.what}, {"place", of.place}, {"variables", of.variables}};
  row["open"] = print("open, ms", costs.open, 1e-3);
  row["first"] = print("a variable, us: first iteration", costs.first, each);
  row["caller"] = print("later ones", costs.caller, each);
  row["until_written"] = print("until written", costs.until_written, each);
  if (std::string(of.place) == "thread") row["writer"] = print("writer's CPU", costs.writer, each);
  std::printf("\n");
  std::fflush(stdout);
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv, "bench_variables: what a variable costs");
  nlohmann::json rows;
  for (const Case& of : cases_of(options.tiny)) rows.push_back(print(of, measure(options.dir, of)));
  remove_directory(options.dir);
  return lab::write_figures(options.json, "bench_variables", options.tiny, rows);
}
