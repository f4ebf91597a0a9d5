// bind_server: server k of a node gets the k-th cpu of a list.
#include "place/core/server_cpu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace tailrace::impl {
namespace {

// On a thread of its own, which binds itself.
std::vector<int> bound(CpuChoice choice, const std::vector<int>& list, int server) {
  std::vector<int> cpus;
  std::thread([&] { cpus = bind_server(choice, list, server).cpus; }).join();
  return cpus;
}

TEST(ServerCpu, TheOrderOfAListCounts) {
  const std::vector<int> last = bound(CpuChoice::automatic, {}, 0);
  const std::vector<int> before = bound(CpuChoice::automatic, {}, 1);
  if (last.empty()) GTEST_SKIP() << "this machine has one cpu";
  for (const std::vector<int>& list : {std::vector<int>{last[0], before[0]}, std::vector<int>{before[0], last[0]}}) {
    for (int server = 0; server < 4; ++server) {
      EXPECT_EQ(bound(CpuChoice::list, list, server), std::vector<int>{list[static_cast<size_t>(server) % 2]});
    }
  }
}

TEST(ServerCpu, LeavesOnlyACpuThatItChoseItself) {
  std::thread([] {
    const ServerCpus chosen = bind_server(CpuChoice::automatic, {}, 0);
    if (chosen.cpus.empty()) GTEST_SKIP() << "this machine has one cpu";
    EXPECT_GT(chosen.away.size(), 1);
    EXPECT_EQ(std::count(chosen.away.begin(), chosen.away.end(), chosen.cpus[0]), 1);
    EXPECT_TRUE(bind_server(CpuChoice::list, chosen.cpus, 0).away.empty());
  }).join();
}

TEST(ServerCpu, CpusThatAreNotThereDoNotCount) {
  const std::vector<int> last = bound(CpuChoice::automatic, {}, 0);
  if (last.empty()) GTEST_SKIP() << "this machine has one cpu";
  EXPECT_EQ(bound(CpuChoice::list, {100'000, last[0]}, 0), last);
  EXPECT_TRUE(bound(CpuChoice::list, {100'000}, 0).empty());
}

}  // namespace
}  // namespace tailrace::impl
