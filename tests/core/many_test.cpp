// Many clients on few processors: nothing is lost, and shared memory has the right size (promise 2).
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core_files.hpp"

namespace {

using test::CoreNode;
using test::Directory;
using test::OpenRun;

constexpr int kClients = 64;
constexpr int64_t kIterations = test::kSanitized ? 10 : 100;
constexpr uint64_t kBudget = uint64_t{1} << 20;
constexpr size_t kWords = 512;

test::Config small_config() {
  test::Config config = test::core_config();
  config.budget = "1 MiB";
  config.shape = "[8, 64]";
  return config;
}

// Returns the size of everything in the runtime directory, by the system's count.
uint64_t shared_memory(const CoreNode& node) {
  uint64_t bytes = 0;
  std::error_code gone;  // as the directory of a job goes with its server
  const test::fs::recursive_directory_iterator end;
  for (auto entry = test::fs::recursive_directory_iterator(node.root(), gone); !gone && entry != end;
       entry.increment(gone)) {
    struct stat info {};
    if (lstat(entry->path().c_str(), &info) == 0) bytes += static_cast<uint64_t>(info.st_blocks) * 512;
  }
  return bytes;
}

bool write_all(tailrace_client* client, int number) {
  for (int64_t iteration = 0; iteration < kIterations; ++iteration) {
    for (int variable = 0; variable < 6; ++variable) {
      const std::vector<double> values = test::block(iteration, number * 6 + variable, kWords);
      if (tailrace_write(client, test::kVariables[variable], iteration, values.data()) != TAILRACE_OK) return false;
    }
    if (tailrace_end_iteration(client, iteration) != TAILRACE_OK) return false;
  }
  return true;
}

// The life of a client: it reports that it is open, and writes when `go` closes.
[[noreturn]] void be_client(int number, const Directory& directory, int opened, int go) {
  OpenRun run(small_config(), directory, number);
  char byte = run.opened() ? 'o' : '!';
  if (!run.opened()) std::fprintf(stderr, "client %d: %s\n", number, run.error().message.c_str());
  if (write(opened, &byte, 1) != 1 || !run.opened() || read(go, &byte, 1) != 0) _exit(1);
  if (!write_all(run, number)) _exit(2);
  _exit(run.close() == TAILRACE_OK ? 0 : 3);
}

void expect_all(const Directory& directory) {
  for (int client = 0; client < kClients; ++client) {
    for (int64_t iteration = 0; iteration < kIterations; ++iteration) {
      const test::Hdf5File file(directory.path() / test::file_of(client, iteration));
      for (int variable = 0; variable < 6; ++variable) {
        const std::vector<double> values = test::block(iteration, client * 6 + variable, kWords);
        const std::vector<std::byte> bytes = file.bytes(iteration, test::kVariables[variable]);
        ASSERT_EQ(bytes.size(), values.size() * sizeof(double)) << test::file_of(client, iteration);
        ASSERT_EQ(std::memcmp(bytes.data(), values.data(), bytes.size()), 0) << test::file_of(client, iteration);
      }
    }
  }
}

TEST(ManyClients, LoseNothingAndHoldTheirBudgetsAndNoMore) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  int opened[2];
  int go[2];
  ASSERT_EQ(pipe(opened), 0);
  ASSERT_EQ(pipe(go), 0);
  std::vector<pid_t> clients;
  for (int client = 0; client < kClients; ++client) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(opened[0]);
      close(go[1]);
      be_client(client, directory, opened[1], go[0]);
    }
    clients.push_back(child);
  }
  close(opened[1]);
  close(go[0]);
  for (int client = 0; client < kClients; ++client) {
    char byte = 0;
    ASSERT_EQ(read(opened[0], &byte, 1), 1);
    ASSERT_EQ(byte, 'o');
  }
  EXPECT_EQ(node.servers().size(), 1u);
  // A channel's parts beside the pool, and for the whole node a ledger and small files.
  constexpr uint64_t kParts = uint64_t{1} << 20;
  constexpr uint64_t kNode = uint64_t{1} << 20;
  EXPECT_LE(shared_memory(node), kClients * (kBudget + kParts) + kNode);
  std::printf("shared memory: %.2f MiB a client of budget 1 MiB\n",
              static_cast<double>(shared_memory(node)) / kClients / (1 << 20));
  close(go[1]);
  for (const pid_t client : clients) {
    int status = 0;
    ASSERT_EQ(waitpid(client, &status, 0), client);
    EXPECT_EQ(status, 0);
    EXPECT_LE(shared_memory(node), kClients * (kBudget + kParts) + 8 * kNode);
  }
  node.wait_end_of_servers();
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
  expect_all(directory);
}

}  // namespace
