// choose_cpus: its choice can be bound to, and it says why.
#include "place/thread/cpus.hpp"
#include "base/sync/bind_thread.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace tailrace::impl {
namespace {

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

TEST(Cpus, NoneIsNone) {
  const CpuSet cpus = choose_cpus(CpuChoice::none, {}, 0);
  EXPECT_TRUE(cpus.cpus.empty());
  EXPECT_FALSE(cpus.reason.empty());
}

TEST(Cpus, WhatIsChosenIsAllowed) {
  const std::vector<int> allowed = allowed_cpus();
  for (int client = 0; client < 3; ++client) {
    const CpuSet cpus = choose_cpus(CpuChoice::automatic, {}, client);
    EXPECT_FALSE(cpus.reason.empty());
    for (const int cpu : cpus.cpus) EXPECT_EQ(std::count(allowed.begin(), allowed.end(), cpu), 1) << cpu;
  }
}

TEST(Cpus, AListIsTakenAsFarAsItExists) {
  const int first = allowed_cpus().front();
  const CpuSet cpus = choose_cpus(CpuChoice::list, {first, 100000}, 0);
  EXPECT_EQ(cpus.cpus, std::vector<int>{first});
  bool bound = false;
  int on = -1;
  std::thread([&] {
    bound = bind_thread(cpus.cpus);
    on = sched_getcpu();
  }).join();
  EXPECT_TRUE(bound);
  EXPECT_EQ(on, first);
}

TEST(Cpus, AListWithoutAnyThatExistsPinsNothingAndSaysSo) {
  const CpuSet cpus = choose_cpus(CpuChoice::list, {CPU_SETSIZE - 1, 100000}, 0);
  EXPECT_TRUE(cpus.cpus.empty());
  const std::string first = std::to_string(allowed_cpus().front());
  EXPECT_NE(cpus.reason.find("not pinned: place.cpus: found 1023, 100000, expected"), std::string::npos)
      << cpus.reason;
  EXPECT_NE(cpus.reason.find("may use: " + first), std::string::npos) << cpus.reason;
  EXPECT_TRUE(bind_thread(cpus.cpus));
}

}  // namespace
}  // namespace tailrace::impl
