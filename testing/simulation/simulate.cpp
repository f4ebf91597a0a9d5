// simulate: runs seeds of the simulator, thousands in silence or one with output.
//
//   simulate --seeds 2000 [--first N]    until one fails; exit code 1 then
//   simulate --seed N                    this one, and print its events
//   simulate --soak MINUTES              from a random seed on, for this time
//
// It reduces a failing seed, and prints the one line that repeats it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "testing/simulation/engine_run.hpp"
#include "testing/simulation/forward_run.hpp"
#include "testing/simulation/joint_run.hpp"
#include "testing/simulation/seed_runner.hpp"

namespace {

using namespace tailrace::impl::simulation;  // NOLINT: this is its program

constexpr uint64_t kBatch = 25;  // seeds that share a process

const char* const kUsage =
    "usage: simulate [--seeds N] [--first N] [--seed N] [--soak MINUTES]\n"
    "                [--program session|core|engine|forward|joint|all]\n"
    "                [--without deaths,server-deaths,company,restarts,hard,transient,delays,node-files,raw-files,\n"
    "                 strangers,iterations,arrays,filters]\n"
    "                [--operations N] [--no-faults] [--repeat] [--no-shrink]\n"
    "  --seeds N       N seeds (2000), from --first on (a random one, printed); stops at the first failure\n"
    "  --seed N        this one, and print its events\n"
    "  --soak MINUTES  seeds for this time\n"
    "  --program       whole sessions with a server for each client or for a node, the engine alone, forwarders,\n"
    "                  nodes that write files together, or all of them for each seed (all)\n"
    "  --without       leaves these out; --operations N: each client makes at most N calls\n"
    "  --no-faults     --without hard,transient\n"
    "  --repeat        runs each seed twice and compares the events\n"
    "  --no-shrink     does not make a failing seed smaller\n";

struct Arguments {
  uint64_t seeds = 2000;
  uint64_t first = 0;
  uint64_t soak_minutes = 0;
  bool aloud = false;
  bool repeat = false;
  bool shrink = true;
  std::string program = "all";
  RunOptions options;
};

[[noreturn]] void wrong(const std::string& what) {
  std::fprintf(stderr, "simulate: %s\n%s", what.c_str(), kUsage);
  std::exit(2);
}

uint64_t number(const char* option, const char* text) {
  char* end = nullptr;
  const uint64_t value = text == nullptr ? 0 : std::strtoull(text, &end, 10);
  if (text == nullptr || end == text || *end != '\0') wrong(fmt::format("{}: expected a number", option));
  return value;
}

Arguments parsed(int count, char** words) {
  Arguments arguments;
  arguments.first = std::random_device{}();
  for (int i = 1; i < count; ++i) {
    const std::string option = words[i];
    const char* const value = i + 1 < count ? words[i + 1] : nullptr;
    if (option == "--help") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (option == "--repeat") {
      arguments.repeat = true;
      continue;
    }
    if (option == "--no-shrink") {
      arguments.shrink = false;
      continue;
    }
    if (option == "--no-faults") {
      arguments.options.without.hard = arguments.options.without.transient = true;
      continue;
    }
    ++i;
    if (option == "--seeds") {
      arguments.seeds = number("--seeds", value);
    } else if (option == "--first") {
      arguments.first = number("--first", value);
    } else if (option == "--seed") {
      arguments.first = number("--seed", value);
      arguments.seeds = 1;
      arguments.aloud = true;
    } else if (option == "--soak") {
      arguments.soak_minutes = number("--soak", value);
    } else if (option == "--operations") {
      arguments.options.operations = number("--operations", value);
    } else if (option == "--without") {
      if (value == nullptr || !leave_out(value, arguments.options.without)) wrong("--without: no such part");
    } else if (option == "--program") {
      const std::string program = value == nullptr ? "" : value;
      const auto known = {"session", "core", "engine", "forward", "joint", "all"};
      if (std::find(known.begin(), known.end(), program) == known.end()) wrong("--program: no such program");
      arguments.program = program;
    } else {
      wrong("no such option: " + option);
    }
  }
  return arguments;
}

uint64_t run_once(uint64_t seed, const Arguments& arguments, const RunOptions& options, bool aloud) {
  Story story(aloud);
  const auto chosen = [&](const char* program) { return arguments.program == "all" || arguments.program == program; };
  if (chosen("engine")) run_engine(seed, options, story);
  if (chosen("session")) run_session(seed, InPlace::thread, options, story);
  if (chosen("core")) run_session(seed, InPlace::core, options, story);
  if (chosen("forward")) run_forward(seed, options, story);
  if (chosen("joint")) run_joint(seed, options, story);
  return story.sum();
}

void run_seed(uint64_t seed, const Arguments& arguments, const RunOptions& options, bool aloud) {
  const uint64_t sum = run_once(seed, arguments, options, aloud);
  if (aloud)
    std::printf("seed %llu is fine; what happened sums up to %016llx\n", (unsigned long long)seed,
                (unsigned long long)sum);
  if (!arguments.repeat || run_once(seed, arguments, options, false) == sum) return;
  Story(false).fail("determinism", "a second run of the seed went another way");
}

int report(SeedRunner& runner, const Finding& finding, const Arguments& arguments, uint64_t tried) {
  std::printf("\nseed %llu FAILED after %llu seeds, found by: %s\n%s", (unsigned long long)finding.seed,
              (unsigned long long)tried, finding.checker.c_str(), finding.output.c_str());
  std::fflush(stdout);
  const RunOptions smaller = arguments.shrink ? runner.shrunk(finding.seed, arguments.options) : arguments.options;
  const std::string program = arguments.program == "all" ? "" : " --program " + arguments.program;
  std::printf("repeat it with:\n  simulate --seed %llu%s%s\n", (unsigned long long)finding.seed, program.c_str(),
              as_arguments(smaller).c_str());
  return 1;
}

int run_many(const Arguments& arguments) {
  using Clock = std::chrono::steady_clock;
  SeedRunner runner([&](uint64_t seed, const RunOptions& options) { run_seed(seed, arguments, options, false); });
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::minutes(arguments.soak_minutes);
  auto told = begin;
  const bool soak = arguments.soak_minutes > 0;
  std::printf("simulate: seeds from %llu on%s\n", (unsigned long long)arguments.first,
              as_arguments(arguments.options).c_str());
  uint64_t done = 0;
  while (soak ? Clock::now() < end : done < arguments.seeds) {
    const uint64_t count = soak ? kBatch : std::min(kBatch, arguments.seeds - done);
    const auto finding = runner.run(arguments.first + done, count, arguments.options);
    if (finding) return report(runner, *finding, arguments, finding->seed - arguments.first + 1);
    done += count;
    if (Clock::now() - told < std::chrono::seconds(10)) continue;
    told = Clock::now();
    std::printf("%llu seeds are fine\n", (unsigned long long)done);
    std::fflush(stdout);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::printf("all %llu seeds are fine (%.1f s, %.1f ms a seed)\n", (unsigned long long)done, seconds,
              1000 * seconds / static_cast<double>(done));
  return 0;
}

// Prints its events. It runs as in a batch, so that memory has the same layout.
int run_one(const Arguments& arguments) {
  SeedRunner runner([&](uint64_t seed, const RunOptions& options) { run_seed(seed, arguments, options, true); });
  const auto finding = runner.run_aloud(arguments.first, arguments.options);
  if (!finding) return 0;
  std::printf("seed %llu FAILED, found by: %s\n", (unsigned long long)arguments.first, finding->checker.c_str());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  const Arguments arguments = parsed(count, words);
  return arguments.aloud ? run_one(arguments) : run_many(arguments);
}
