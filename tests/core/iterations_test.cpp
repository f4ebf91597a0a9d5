// How many iterations may be unfinished if clients share files, and how many files the server may have open (promise
// 2).
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <memory>
#include <thread>

#include "core_files.hpp"

namespace {

using test::CoreNode;
using test::Directory;

constexpr int64_t kIterations = 30;
constexpr uint32_t kLimit = 3;

// One of two clients that share a file for each iteration.
class Client {
 public:
  Client(const Directory& directory, int number) : number_(number) {
    const std::string path = directory.path();
    const std::string text =
        "tailrace: 1\nname: run\nplace: {kind: core, cpus: none, clients: 2}\nmemory: {budget: 1 MiB, iterations: " +
        std::to_string(kLimit) +
        "}\nstorage: {file_per: node}\nlog: {level: error}\n"
        "layouts: {row: {type: float64, shape: [1, 8], global: [2, 8], offset: [client, 0]}}\n"
        "variables: {v: {layout: row}}\n";
    tailrace_open_options options{};
    options.struct_size = sizeof options;
    options.config_text = text.c_str();
    options.path = path.c_str();
    EXPECT_EQ(tailrace_open_with("run.yaml", number, &options, &client_), TAILRACE_OK)
        << test::last_error(nullptr).message;
  }
  ~Client() {
    if (client_ != nullptr) tailrace_close(client_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  tailrace_status write(int64_t iteration) {
    const std::vector<double> values(8, static_cast<double>(100 * iteration + number_));
    return tailrace_write(client_, "v", iteration, values.data());
  }
  tailrace_status end(int64_t iteration) { return tailrace_end_iteration(client_, iteration); }
  tailrace_stats stats() { return test::stats_of(client_); }
  tailrace_status close() { return tailrace_close(std::exchange(client_, nullptr)); }

 private:
  const int number_;
  tailrace_client* client_ = nullptr;
};

size_t unfinished(const Directory& directory) {
  const std::vector<std::string> names = directory.names();
  return static_cast<size_t>(
      std::count_if(names.begin(), names.end(), [](const std::string& name) { return name.ends_with(".part"); }));
}

// The first one waits for the second, which must be able to end the iteration that the first waits for.
TEST(Iterations, WhoIsAheadWaitsForWhoIsLate) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  Client ahead(directory, 0);
  Client late(directory, 1);
  EXPECT_EQ(ahead.stats().iterations_limit, kLimit);
  std::thread first([&ahead] {
    for (int64_t iteration = 0; iteration < kIterations; ++iteration) {
      ASSERT_EQ(ahead.write(iteration), TAILRACE_OK);
      ASSERT_EQ(ahead.end(iteration), TAILRACE_OK);
    }
  });
  while (unfinished(directory) < kLimit) sched_yield();
  // One iteration is ended without a block of this one.
  ASSERT_EQ(late.end(0), TAILRACE_OK);
  for (int64_t iteration = 1; iteration < kIterations; ++iteration) {
    ASSERT_EQ(late.write(iteration), TAILRACE_OK);
    ASSERT_EQ(late.end(iteration), TAILRACE_OK);
    EXPECT_LE(unfinished(directory), kLimit + 1);
  }
  first.join();
  EXPECT_LE(ahead.stats().iterations_peak, kLimit + 1);
  EXPECT_EQ(ahead.close(), TAILRACE_OK);
  EXPECT_EQ(late.close(), TAILRACE_OK);
  EXPECT_EQ(unfinished(directory), 0u);
  size_t files = 0;
  for (const std::string& name : directory.names()) files += name.ends_with(".h5") ? 1 : 0;
  EXPECT_EQ(files, size_t{kIterations});
}

// Returns how many files `process` may have open.
uint64_t limit_of(pid_t process) {
  rlimit limit{};
  EXPECT_EQ(prlimit(process, RLIMIT_NOFILE, nullptr, &limit), 0);
  return limit.rlim_cur;
}

// The program's own limit does not change.
TEST(Iterations, TheServerRaisesItsOwnLimitOfFiles) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  if (before.rlim_max <= 256) GTEST_SKIP() << "the hard limit is no higher";
  const rlimit low{256, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  {
    const CoreNode node;
    const Directory directory("/dev/shm");
    test::OpenRun run(test::core_config(), directory, 0);
    EXPECT_TRUE(run.opened()) << run.error().message;
    ASSERT_EQ(node.servers().size(), 1u);
    EXPECT_EQ(limit_of(node.servers()[0]), before.rlim_max);
    EXPECT_EQ(limit_of(getpid()), 256u);
    EXPECT_EQ(run.close(), TAILRACE_OK);
    node.wait_end_of_servers();
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
