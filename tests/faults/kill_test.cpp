// kill -9 at random moments (promise 3): no published file is ever incomplete, flushed data are there, recovery
// leaves a clean directory, and nothing obstructs the next run.
//
// TAILRACE_SEED=… repeats a run, TAILRACE_KILLS=… makes it longer. The moment depends on the victim's progress (its
// k-th byte) and a few spins, never on a clock.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "other_process.hpp"
#include "run_rig.hpp"
#include "scenario.hpp"
#include "scenario_files.hpp"

namespace {

using test::Directory;
using test::OtherProcess;
using test::Scenario;

constexpr int kIterations = 12;

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

uint64_t seed_of_run() {
  static const uint64_t seed = from_environment("TAILRACE_SEED", std::random_device{}());
  return seed;
}

// The victim's own report.
struct Progress {
  int64_t ended = 0;    // iterations
  int64_t flushed = 0;  // … that were published before a flush returned
  bool closed = false;
  bool failed = false;

  void take(char byte) {
    if (byte == 'e') ++ended;
    if (byte == 'f') flushed = ended;
    if (byte == 'c') closed = true;
    if (byte == 'c') flushed = ended;
    if (byte == '!') failed = true;
  }
};

// Waits until the victim has printed `bytes` bytes and `spins` have passed, sends `signal`, and returns everything
// that it has printed.
Progress kill_after(OtherProcess& victim, uint64_t bytes, uint64_t spins, int signal) {
  Progress progress;
  char byte = 0;
  for (uint64_t i = 0; i < bytes && victim.read_byte(byte); ++i) progress.take(byte);
  for (std::atomic<uint64_t> i{0}; i < spins;) ++i;
  victim.end(signal);
  while (victim.read_byte(byte)) progress.take(byte);
  return progress;
}

std::string name_of(int64_t iteration) {
  char name[40];
  std::snprintf(name, sizeof name, "killed_c0_%06lld.h5", static_cast<long long>(iteration));
  return name;
}

bool is_published(const std::string& name) { return name.ends_with(".h5"); }

int64_t iteration_of(const std::string& name) {
  return std::strtoll(name.c_str() + std::string("killed_c0_").size(), nullptr, 10);
}

// Every published file opens and holds exactly the blocks of its iteration.
void expect_whole(const Directory& directory, const Scenario& scenario, const std::string& name) {
  ASSERT_EQ(test::wrong_in(directory.path() / name, scenario, iteration_of(name)), "");
}

void expect_published_whole(const Directory& directory, const Scenario& scenario) {
  for (const std::string& name : directory.names()) {
    if (is_published(name)) expect_whole(directory, scenario, name);
  }
}

// Name, size and time of change of every file.
using Listing = std::map<std::string, std::pair<uintmax_t, test::fs::file_time_type>>;
Listing listing(const Directory& directory) {
  Listing files;
  for (const auto& entry : test::fs::directory_iterator(directory.path())) {
    files[entry.path().filename()] = {entry.file_size(), entry.last_write_time()};
  }
  return files;
}

struct Leftover {
  tailrace_leftover kind;
  bool done;
  tailrace_status status;
};
using Leftovers = std::map<std::string, Leftover>;

Leftovers recover(const Directory& directory, bool apply) {
  Leftovers found;
  const auto take = [](void* context, const char* file, tailrace_leftover kind, int done, tailrace_status status,
                       const char*) {
    (*static_cast<Leftovers*>(context))[test::fs::path(file).filename()] = {kind, done != 0, status};
  };
  EXPECT_EQ(tailrace_recover(directory.path().c_str(), apply ? 1 : 0, take, &found), TAILRACE_OK);
  return found;
}

void expect_recovery(const Directory& directory, const Scenario& scenario) {
  const Listing before = listing(directory);
  const Leftovers listed = recover(directory, false);
  ASSERT_EQ(listing(directory), before) << "listing changes nothing";
  for (const auto& [name, file] : before) {
    if (is_published(name)) {
      EXPECT_FALSE(listed.contains(name)) << name;
      continue;
    }
    ASSERT_TRUE(listed.contains(name)) << name;
    EXPECT_FALSE(listed.at(name).done) << name;
    EXPECT_EQ(listed.at(name).kind == TAILRACE_STALE_LOCK, name.ends_with(".lock")) << name;
    EXPECT_TRUE(name.ends_with(".lock") || name.ends_with(".part")) << name;
  }
  const Leftovers treated = recover(directory, true);
  EXPECT_EQ(treated.size(), listed.size());
  const Listing after = listing(directory);
  for (const auto& [name, leftover] : treated) {
    EXPECT_TRUE(leftover.done) << name;
    EXPECT_EQ(leftover.kind, listed.at(name).kind) << name;
    if (leftover.kind == TAILRACE_COMPLETE) {
      EXPECT_TRUE(after.contains(name.substr(0, name.size() - 5)));
    }
  }
  for (const auto& [name, file] : after) EXPECT_TRUE(is_published(name)) << name << " is left by recovery";
  for (const auto& [name, file] : before) {
    if (is_published(name)) {
      EXPECT_TRUE(after.contains(name)) << name << " was published and is gone";
    }
  }
  expect_published_whole(directory, scenario);
  EXPECT_TRUE(recover(directory, true).empty());
}

// Repeats the same simulation over what the dead one and recovery have left.
void expect_next_run(const Directory& directory, const Scenario& scenario) {
  const std::string text = scenario.config();
  const std::string path = directory.path();
  tailrace_open_options options{};
  options.struct_size = sizeof options;
  options.config_text = text.c_str();
  options.path = path.c_str();
  tailrace_client* client = nullptr;
  ASSERT_EQ(tailrace_open_with("killed.yaml", 0, &options, &client), TAILRACE_OK)
      << test::last_error(nullptr).message;
  for (const int64_t iteration : {int64_t{0}, int64_t{kIterations}}) {
    const tailrace_parameter particles = {"n", static_cast<int64_t>(scenario.particles(iteration))};
    ASSERT_EQ(tailrace_set_parameters(client, &particles, 1), TAILRACE_OK);
    for (size_t variable = 0; variable < scenario.variables(); ++variable) {
      std::vector<uint64_t> block(scenario.words_of(iteration, variable));
      scenario.fill(iteration, variable, block.data());
      ASSERT_EQ(tailrace_write(client, scenario.name(variable).c_str(), iteration, block.data()), TAILRACE_OK);
    }
    const double residual = scenario.residual(iteration);
    for (const char* of : {static_cast<const char*>(nullptr), "ions/weighting", "E/y"}) {
      ASSERT_EQ(tailrace_attribute(client, of, iteration, "residual", TAILRACE_FLOAT64, 1, &residual), TAILRACE_OK);
    }
    ASSERT_EQ(tailrace_end_iteration_at(client, iteration, scenario.time(iteration), 0.5), TAILRACE_OK);
  }
  ASSERT_EQ(tailrace_close(client), TAILRACE_OK);
  expect_whole(directory, scenario, name_of(0));
  expect_whole(directory, scenario, name_of(kIterations));
}

// Half of the kills are in memory, where everything is fast, the rest in TMPDIR.
test::fs::path somewhere(uint64_t number) {
  const test::fs::path memory = "/dev/shm";
  std::error_code ignored;
  return number % 2 == 0 && test::fs::is_directory(memory, ignored) ? memory : test::fs::temp_directory_path();
}

std::string repeat(uint64_t seed) { return "repeat with TAILRACE_SEED=" + std::to_string(seed); }

// Sends `signal` at random moments of simulations, until `kills` of them have hit one that was not over. The next run
// finds the leftovers of half of them.
void kill_often(uint64_t seed, uint64_t kills, int signal) {
  std::mt19937_64 random(seed);
  uint64_t completed = 0;
  uint64_t published = 0;
  uint64_t parts = 0;
  const uint64_t most_runs = 3 * kills + 20;  // on a slow machine more runs are over before the signal
  uint64_t kill = 0;
  for (; kill - completed < kills && kill < most_runs; ++kill) {
    const Scenario scenario(seed * 1000 + kill);
    const Directory directory(somewhere(kill));
    const uint64_t most = static_cast<uint64_t>(kIterations) * (scenario.variables() * 4 / 3 + 6);
    OtherProcess victim(SIMULATION, {directory.path(), std::to_string(scenario.seed), std::to_string(kIterations)});
    const uint64_t spins = uint64_t{1} << (random() % 20);
    const Progress progress = kill_after(victim, random() % most, spins, signal);
    ASSERT_FALSE(progress.failed);
    completed += progress.closed ? 1 : 0;
    for (int64_t iteration = 0; iteration < progress.flushed; ++iteration) {
      EXPECT_TRUE(test::fs::exists(directory.path() / name_of(iteration))) << "it was flushed before the kill";
    }
    for (const std::string& name : directory.names()) {
      published += is_published(name) ? 1 : 0;
      parts += name.ends_with(".part") ? 1 : 0;
      EXPECT_LE(is_published(name) ? iteration_of(name) : 0, progress.ended);
    }
    expect_published_whole(directory, scenario);
    if (random() % 2 == 0) expect_recovery(directory, scenario);
    expect_next_run(directory, scenario);
    expect_recovery(directory, scenario);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "kill " << kill << " of seed " << seed;
  }
  std::printf("%llu kills from seed %llu: %llu files published, %llu unfinished; %llu runs were over before\n",
              static_cast<unsigned long long>(kill), static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(published), static_cast<unsigned long long>(parts),
              static_cast<unsigned long long>(completed));
  EXPECT_EQ(kill - completed, kills) << "too many runs were over before the signal";
}

// In parts, each with a seed of its own, so that ctest can run them beside others.
class Kill : public ::testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Parts, Kill, ::testing::Range<uint64_t>(0, 6));

TEST_P(Kill, LeavesNoIncompletePublishedFile) {
  SCOPED_TRACE(repeat(seed_of_run()));
  kill_often(seed_of_run() + GetParam(), from_environment("TAILRACE_KILLS", test::kSanitized ? 10 : 40), SIGKILL);
}

TEST(Termination, IsNoDifferent) {
  SCOPED_TRACE(repeat(seed_of_run()));
  kill_often(seed_of_run(), 20, SIGTERM);
}

// A simulation that is stopped and continued at random moments writes the same.
TEST(Stop, AndContinueChangesNothing) {
  SCOPED_TRACE(repeat(seed_of_run()));
  std::mt19937_64 random(seed_of_run());
  for (uint64_t round = 0; round < 10; ++round) {
    const Scenario scenario(seed_of_run() * 1000 + round);
    const Directory directory(somewhere(round));
    OtherProcess victim(SIMULATION, {directory.path(), std::to_string(scenario.seed), std::to_string(kIterations)});
    Progress progress;
    bool ended = false;
    for (char byte = 0; victim.read_byte(byte);) {
      progress.take(byte);
      if (ended || progress.closed || random() % 8 != 0) continue;
      kill(victim.pid(), SIGSTOP);
      int status = 0;
      ASSERT_EQ(waitpid(victim.pid(), &status, WUNTRACED), victim.pid());
      ended = !WIFSTOPPED(status);  // its last bytes are still to be read
      if (!ended) kill(victim.pid(), SIGCONT);
    }
    EXPECT_TRUE(progress.closed);
    EXPECT_EQ(directory.names().size(), size_t{kIterations});
    expect_published_whole(directory, scenario);
  }
}

}  // namespace
