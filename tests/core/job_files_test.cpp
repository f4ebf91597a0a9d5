// One file for all clients of a job (storage.file_per: job): tiles that are combined while servers and clients die
// (promises 1, 3 and 5).
//
// The test compares the files with whole arrays that it computes, element by element. TAILRACE_SEED=… repeats the
// random parts, but not the machine's timing.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <random>

#include "core_files.hpp"
#include "raw_file.hpp"

namespace {

using test::CoreNode;
using test::Directory;

constexpr size_t kAcross = 3;  // tiles; one a client
constexpr size_t kDown = 2;
constexpr size_t kClients = kAcross * kDown;
constexpr size_t kRows = 40;  // of a tile
constexpr size_t kColumns = 100;
constexpr size_t kWide = kAcross * kColumns;

std::string text() {
  return "tailrace: 1\nname: run\nplace: {kind: core, cpus: none, clients: " + std::to_string(kClients) +
         "}\nmemory: {budget: 1 MiB}\nstorage: {file_per: job, existing: continue}\nlog: {level: error}\n"
         "parameters: {row: 0, column: 0, first: 0}\n"
         "layouts:\n"
         "  tile: {type: float64, shape: [40, 100], global: [80, 300], offset: [row, column]}\n"
         "  columns: {type: float64, shape: [80, 50], global: [80, 300], offset: [0, first]}\n"
         "variables:\n  u: {layout: tile}\n  v: {layout: tile}\n  w: {layout: columns}\n";
}

// Rows, columns and beginning of a client's part of each variable, in the order of `text`.
struct Part {
  size_t row, column, rows, columns;
};

Part part_of(size_t variable, size_t client) {
  if (variable == 2) return {0, 50 * client, kDown * kRows, 50};
  return {kRows * (client / kAcross), kColumns * (client % kAcross), kRows, kColumns};
}

double element(int64_t iteration, size_t variable, size_t row, size_t column) {
  return static_cast<double>(iteration * 100 + static_cast<int64_t>(variable) + 1) * 1e6 +
         static_cast<double>(row * kWide + column);
}

std::vector<double> values_of(int64_t iteration, size_t variable, const Part& part) {
  std::vector<double> values;
  for (size_t row = part.row; row < part.row + part.rows; ++row) {
    for (size_t column = part.column; column < part.column + part.columns; ++column) {
      values.push_back(element(iteration, variable, row, column));
    }
  }
  return values;
}

constexpr std::array<const char*, 3> kNames = {"u", "v", "w"};

class JobClient {
 public:
  JobClient(const test::fs::path& directory, size_t number) : number_(number) {
    const std::string path = directory;
    const std::string configuration = text();
    const Part tile = part_of(0, number);
    const tailrace_parameter parameters[] = {{"row", static_cast<int64_t>(tile.row)},
                                             {"column", static_cast<int64_t>(tile.column)},
                                             {"first", static_cast<int64_t>(part_of(2, number).column)}};
    tailrace_open_options options{};
    options.struct_size = sizeof options;
    options.config_text = configuration.c_str();
    options.path = path.c_str();
    options.parameters = parameters;
    options.parameter_count = 3;
    const tailrace_status opened = tailrace_open_with("run.yaml", static_cast<int>(number), &options, &client_);
    EXPECT_EQ(opened, TAILRACE_OK) << test::last_error(nullptr).message;
  }
  ~JobClient() {
    if (client_ != nullptr) close();
  }
  JobClient(const JobClient&) = delete;
  JobClient& operator=(const JobClient&) = delete;

  operator tailrace_client*() const { return client_; }  // NOLINT: as the handle it is meant to be used
  std::string why() const { return test::last_error(client_).message; }
  tailrace_status close() { return tailrace_close(std::exchange(client_, nullptr)); }

  tailrace_status write(size_t variable, int64_t iteration) {
    const std::vector<double> values = values_of(iteration, variable, part_of(variable, number_));
    return tailrace_write(client_, kNames[variable], iteration, values.data());
  }
  void expect_own(size_t variable, int64_t iteration) {
    const std::vector<double> expected = values_of(iteration, variable, part_of(variable, number_));
    std::vector<double> found(expected.size());
    ASSERT_EQ(tailrace_read(client_, kNames[variable], iteration, found.data()), TAILRACE_OK) << why();
    ASSERT_TRUE(found == expected);
  }

 private:
  const size_t number_;
  tailrace_client* client_ = nullptr;
};

std::string file_of(int64_t iteration) {
  char name[40];
  std::snprintf(name, sizeof name, "run_%06lld.h5", static_cast<long long>(iteration));
  return name;
}

// Expects the parts of all clients but one, and no numbers for what that one has not written.
void expect_whole(const test::fs::path& path, int64_t iteration, size_t without = kClients) {
  const test::Hdf5File file(path);
  ASSERT_TRUE(file.opened()) << path;
  ASSERT_EQ(file.variables(iteration), std::vector<std::string>(kNames.begin(), kNames.end()));
  for (size_t variable = 0; variable < kNames.size(); ++variable) {
    std::vector<double> expected = values_of(iteration, variable, {0, 0, kDown * kRows, kWide});
    if (without < kClients) {
      const Part part = part_of(variable, without);
      for (size_t row = part.row; row < part.row + part.rows; ++row) {
        std::fill_n(expected.begin() + static_cast<ptrdiff_t>(row * kWide + part.column), part.columns,
                    std::numeric_limits<double>::quiet_NaN());
      }
    }
    const std::vector<std::byte> bytes = file.bytes(iteration, kNames[variable]);
    ASSERT_EQ(bytes.size(), expected.size() * sizeof(double)) << path << " " << kNames[variable];
    ASSERT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0) << path << " " << kNames[variable];
  }
}

// Files of iterations, and no unfinished ones.
void expect_no_other_files(const Directory& directory, int64_t iterations) {
  std::vector<std::string> names = directory.names();
  std::erase_if(names, [](const std::string& name) { return name.find(".h5") == std::string::npos; });
  std::vector<std::string> expected;
  for (int64_t iteration = 0; iteration < iterations; ++iteration) expected.push_back(file_of(iteration));
  EXPECT_EQ(names, expected);
}

TEST(JobFiles, AreWholeThoughServersDieInTheMiddle) {
  const uint64_t seed = test::seed_of_test();
  SCOPED_TRACE("repeat with TAILRACE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const CoreNode node;
  const Directory directory("/dev/shm");
  std::vector<std::unique_ptr<JobClient>> clients;
  for (size_t client = 0; client < kClients; ++client) {
    clients.push_back(std::make_unique<JobClient>(directory, client));
    ASSERT_NE(static_cast<tailrace_client*>(*clients.back()), nullptr);
  }
  constexpr int64_t kIterations = 25;
  int killed = 0;
  for (int64_t iteration = 0; iteration < kIterations; ++iteration) {
    std::vector<size_t> order(kClients);
    for (size_t i = 0; i < kClients; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t client : order) {
      for (size_t variable = 0; variable < kNames.size(); ++variable) {
        ASSERT_EQ(clients[client]->write(variable, iteration), TAILRACE_OK) << clients[client]->why();
        if (random() % 8 == 0) {
          ASSERT_NO_FATAL_FAILURE(clients[client]->expect_own(random() % (variable + 1), iteration));
        }
        if (random() % 16 > 0) continue;
        const uint64_t spins = uint64_t{1} << (random() % 20);
        for (std::atomic<uint64_t> i{0}; i < spins;) ++i;
        killed += node.kill_servers(SIGKILL);
      }
      ASSERT_EQ(tailrace_end_iteration(*clients[client], iteration), TAILRACE_OK) << clients[client]->why();
    }
    // Checks an iteration that has been published, or is being.
    if (iteration > 0) {
      ASSERT_NO_FATAL_FAILURE(clients[random() % kClients]->expect_own(2, iteration - 1));
    }
  }
  for (auto& client : clients) EXPECT_EQ(client->close(), TAILRACE_OK);
  EXPECT_GT(killed, 0);
  for (int64_t iteration = 0; iteration < kIterations; ++iteration) {
    ASSERT_NO_FATAL_FAILURE(expect_whole(directory.path() / file_of(iteration), iteration));
  }
  // The test does not wait for the server's end: it keeps a client that closed before the last one knew it until its
  // process ends.
  expect_no_other_files(directory, kIterations);
}

TEST(JobFiles, HaveAHoleWhereAClientDied) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  constexpr size_t kVictim = 4;
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = fork();
  if (child == 0) {
    JobClient victim(directory, kVictim);
    bool ok = true;
    for (size_t variable = 0; variable < kNames.size(); ++variable)
      ok = ok && victim.write(variable, 0) == TAILRACE_OK;
    ok = ok && tailrace_end_iteration(victim, 0) == TAILRACE_OK;
    char word = 0;
    _exit(ok && write(go[1], &word, 1) == 1 ? 0 : 1);  // without closing
  }
  char word = 0;
  ASSERT_EQ(read(go[0], &word, 1), 1);
  test::wait_end_of(child);
  std::vector<std::unique_ptr<JobClient>> clients;
  for (size_t client = 0; client < kClients; ++client) {
    if (client != kVictim) clients.push_back(std::make_unique<JobClient>(directory, client));
  }
  for (int64_t iteration = 0; iteration < 2; ++iteration) {
    for (auto& client : clients) {
      for (size_t variable = 0; variable < kNames.size(); ++variable) {
        ASSERT_EQ(client->write(variable, iteration), TAILRACE_OK) << client->why();
      }
      ASSERT_EQ(tailrace_end_iteration(*client, iteration), TAILRACE_OK) << client->why();
    }
  }
  for (auto& client : clients) EXPECT_EQ(client->close(), TAILRACE_EARLIER_FAILURE) << "iteration 1 lacks a client";
  ASSERT_NO_FATAL_FAILURE(expect_whole(directory.path() / file_of(0), 0));
  ASSERT_NO_FATAL_FAILURE(expect_whole(directory.path() / file_of(1), 1, kVictim));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(go[0]);
  close(go[1]);
  expect_no_other_files(directory, 2);
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

}  // namespace
