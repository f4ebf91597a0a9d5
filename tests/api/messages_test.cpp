// The messages of refusals and losses: each names the cause, the place and a remedy; if there are several failures,
// all of them.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "run_rig.hpp"

namespace {

using test::Config;
using test::Directory;
using test::OpenRun;

// ---- causes that a close has not reported -------------------------------------------------------------------

// Three iterations that are not ended: three failures, all of the close.
void leave_three_unended(tailrace_client* client) {
  for (int64_t iteration = 0; iteration < 3; ++iteration) {
    ASSERT_EQ(tailrace_write(client, "a", iteration, test::block(iteration, 0).data()), TAILRACE_OK);
  }
}

std::multiset<int64_t> causes_left(tailrace_client* client) {
  std::multiset<int64_t> iterations;
  tailrace_error error{};
  error.struct_size = sizeof error;
  while (tailrace_next_error(client, &error) == TAILRACE_OK && error.status != TAILRACE_OK) {
    EXPECT_EQ(error.earlier, 1);
    EXPECT_EQ(error.status, TAILRACE_NOT_PUBLISHED);
    iterations.insert(error.iteration);
  }
  return iterations;
}

TEST(Causes, OfAFailedCloseCanAllBeRead) {
  const Directory directory;
  tailrace_client* client = nullptr;
  ASSERT_EQ(test::open_client(Config(), directory, 0, &client), TAILRACE_OK);
  leave_three_unended(client);
  ASSERT_EQ(tailrace_close(client), TAILRACE_EARLIER_FAILURE);
  const test::Error told = test::last_error(client);
  EXPECT_EQ(told.iteration, 0);
  EXPECT_EQ(told.more, 2u);
  EXPECT_EQ(causes_left(client), (std::multiset<int64_t>{1, 2}));
  EXPECT_EQ(causes_left(client), std::multiset<int64_t>{}) << "each is told once";
  EXPECT_EQ(tailrace_flush(client), TAILRACE_CLOSED);
}

TEST(Causes, AreKeptFromAWrongQuestion) {
  const Directory directory;
  tailrace_client* client = nullptr;
  ASSERT_EQ(test::open_client(Config(), directory, 0, &client), TAILRACE_OK);
  leave_three_unended(client);
  ASSERT_EQ(tailrace_close(client), TAILRACE_EARLIER_FAILURE);
  tailrace_error error{};
  EXPECT_EQ(tailrace_next_error(client, nullptr), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_next_error(client, &error), TAILRACE_INVALID_ARGUMENT) << "no struct_size";
  EXPECT_EQ(tailrace_next_error(nullptr, &error), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(causes_left(client).size(), 2u);
}

TEST(Causes, StandInReportAndLog) {
  const Directory directory;
  const test::fs::path log = directory.path() / "log";
  Config config;
  config.measurements = "{report: true}";
  config.log = "{level: warning, file: '" + log.string() + "'}";
  OpenRun run(config, directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  leave_three_unended(run);
  ASSERT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);
  std::ifstream report(directory.path() / "run_c0.stats.json");
  const nlohmann::json untold = nlohmann::json::parse(report).at("failures_untold");
  ASSERT_EQ(untold.size(), 3u);
  std::stringstream logged;
  logged << std::ifstream(log).rdbuf();
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(untold[i].at("iteration"), i);
    EXPECT_NE(logged.str().find(untold[i].at("message").get<std::string>()), std::string::npos) << logged.str();
  }
}

// A log has 32 lines of what was never told, and says how much more there is.
TEST(Causes, OneMoreThanTheLogListsIsCounted) {
  for (const int64_t count : {int64_t{32}, int64_t{33}}) {
    const Directory directory;
    const test::fs::path log = directory.path() / "log";
    Config config;
    config.shape = "[8]";
    config.log = "{level: error, file: '" + log.string() + "'}";
    OpenRun run(config, directory);
    ASSERT_TRUE(run.opened()) << run.error().message;
    for (int64_t iteration = 0; iteration < count; ++iteration) {
      const std::vector<double> values = test::block(iteration, 0, 8);
      ASSERT_EQ(tailrace_write(run, "a", iteration, values.data()), TAILRACE_OK) << run.error().message;
    }
    ASSERT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);
    std::ifstream file(log);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    ASSERT_FALSE(lines.empty());
    const bool counted = lines.back().find("and more, 33 failures in all") != std::string::npos;
    EXPECT_EQ(counted, count > 32) << lines.back();
    EXPECT_EQ(lines.size(), static_cast<size_t>(count)) << lines.back();
  }
}

// ---- what the system refuses ---------------------------------------------------------------------------------

// Returns what `body` printed in a child in which `prepare` was called, or how the child ended.
std::string in_child(const std::function<void()>& prepare, const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) abort();
  const pid_t child = fork();
  if (child == 0) {
    prepare();
    const std::string said = body();
    [[maybe_unused]] const ssize_t put = write(ends[1], said.data(), said.size());
    _exit(0);
  }
  close(ends[1]);
  std::string said;
  char piece[512];
  for (ssize_t count = 0; (count = read(ends[0], piece, sizeof piece)) > 0;)
    said.append(piece, static_cast<size_t>(count));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return said;
}

// As a sandbox does it.
void forbid(unsigned call, unsigned error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{4, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    _exit(1);
}

std::string told_at_open(const Directory& directory) {
  const OpenRun run(Config(), directory);
  return run.opened() ? "opened" : std::to_string(run.error().system_errno) + ": " + run.error().message;
}

TEST(Sandbox, ThatForbidsMemoryFilesIsNamed) {
  if (!test::in_place_core()) GTEST_SKIP() << "place thread needs none";
  const Directory directory;
  for (const unsigned error : {unsigned{ENOSYS}, unsigned{EPERM}}) {
    const std::string told =
        in_child([=] { forbid(SYS_memfd_create, error); }, [&] { return told_at_open(directory); });
    EXPECT_NE(told.find("sandbox"), std::string::npos) << told;
    EXPECT_NE(told.find("place thread does not"), std::string::npos) << told;
    EXPECT_EQ(told.find(std::to_string(error) + ": "), 0u) << told;
  }
}

// The server inherits the limit of the client that starts it.
TEST(FileSizeLimit, IsNamedWhereSharedMemoryIsRefused) {
  if (!test::in_place_core()) GTEST_SKIP() << "place thread has no files for memory";
  const Directory directory;
  const auto limit = [] {
    const rlimit most{uint64_t{1} << 20, uint64_t{1} << 20};
    setrlimit(RLIMIT_FSIZE, &most);
  };
  const std::string told = in_child(limit, [&] { return told_at_open(directory); });
  EXPECT_NE(told.find("ulimit -f"), std::string::npos) << told;
  EXPECT_NE(told.find("1024 KiB"), std::string::npos) << told;
  EXPECT_EQ(told.find(std::to_string(EFBIG) + ": "), 0u) << told;
  EXPECT_EQ(told.find("expected room"), std::string::npos) << told;
}

// ---- the page cache ------------------------------------------------------------------------------------------

// Borrowed memory begins this many bytes after a page; NumPy's and malloc's begin at 16 or 64.
nlohmann::json report_of_borrowing(const Directory& directory, size_t offset, std::string& logged) {
  const test::fs::path log = directory.path() / "log";
  Config config;
  config.shape = "[1024, 1024]";
  config.budget = "64 MiB";
  config.measurements = "{report: true}";
  config.log = "{level: warning, file: '" + log.string() + "'}";
  const std::unique_ptr<std::byte, void (*)(void*)> memory(
      static_cast<std::byte*>(std::aligned_alloc(4096, (size_t{8} << 20) + 4096)), std::free);
  OpenRun run(config, directory);
  EXPECT_TRUE(run.opened()) << run.error().message;
  for (int64_t iteration = 0; iteration < 2; ++iteration) {
    tailrace_ticket ticket{};
    EXPECT_EQ(tailrace_borrow(run, "a", iteration, memory.get() + offset, &ticket), TAILRACE_OK);
    EXPECT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
  std::stringstream text;
  text << std::ifstream(log).rdbuf();
  logged = text.str();
  std::ifstream report(directory.path() / "run_c0.stats.json");
  return nlohmann::json::parse(report);
}

TEST(PageCache, IsPassedByFromAnyAddress) {
  if (test::in_place_core()) GTEST_SKIP() << "place core copies what is borrowed";
  std::string logged;
  const Directory aligned;
  const nlohmann::json direct = report_of_borrowing(aligned, 0, logged);
  const auto transfers = direct.at("totals").at("transfers_direct").get<uint64_t>();
  if (transfers == 0) GTEST_SKIP() << "this file system has no way past it";
  for (const size_t offset : {0, 16, 64, 1000}) {
    const Directory beside;
    const nlohmann::json odd = report_of_borrowing(beside, offset, logged);
    EXPECT_GE(odd.at("totals").at("transfers_direct").get<uint64_t>(), transfers) << offset;
    EXPECT_EQ(odd.at("variables")[0].at("blocks_cached"), 0) << offset;
    EXPECT_EQ(logged, "") << offset;
  }
}

}  // namespace
