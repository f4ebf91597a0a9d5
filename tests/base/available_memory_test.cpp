// AvailableMemory, with the test's own files for machines and control groups.
#include "base/memory/available_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMiB = uint64_t{1} << 20;

class Machine {
 public:
  Machine() {
    put("/proc/meminfo", "MemTotal: 99999999 kB\nMemAvailable: 102400 kB\nSwapTotal: 4096 kB\nSwapFree: 2048 kB\n");
  }
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(scratch_ / path).parent_path());
    std::ofstream(scratch_ / path) << text;
  }
  AvailableMemory available() const { return available_memory(scratch_.path()); }

 private:
  const ScratchDirectory scratch_;
};

TEST(AvailableMemory, OfAMachineHasItsSwap) {
  const Machine machine;
  EXPECT_EQ(machine.available().bytes, 102 * kMiB);
  EXPECT_EQ(machine.available().of, "this machine");
}

TEST(AvailableMemory, OfAControlGroupIsWhatItsLimitLeaves) {
  const Machine machine;
  machine.put("/proc/self/cgroup", "0::/batch/job\n");
  machine.put("/sys/fs/cgroup/batch/job/memory.max", "max\n");
  machine.put("/sys/fs/cgroup/batch/job/memory.current", "1048576\n");
  machine.put("/sys/fs/cgroup/batch/memory.max", std::to_string(64 * kMiB));
  machine.put("/sys/fs/cgroup/batch/memory.current", std::to_string(48 * kMiB));
  machine.put("/sys/fs/cgroup/batch/memory.stat", "anon 1\ninactive_file " + std::to_string(8 * kMiB) +
                                                      "\nactive_file " + std::to_string(4 * kMiB) + "\n");
  EXPECT_EQ(machine.available().bytes, (64 - 48 + 8 + 4 + 2) * kMiB);
  EXPECT_EQ(machine.available().of, "the control group '/batch'");
}

TEST(AvailableMemory, OfAContainerIsFoundAtTheTop) {
  const Machine machine;
  machine.put("/proc/self/cgroup", "5:cpu,cpuacct:/else\n4:memory:/not/seen/here\n0::/\n");
  machine.put("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(32 * kMiB));
  machine.put("/sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(40 * kMiB));
  machine.put("/sys/fs/cgroup/memory/memory.stat", "total_inactive_file " + std::to_string(16 * kMiB) + "\n");
  EXPECT_EQ(machine.available().bytes, (32 - 40 + 16 + 2) * kMiB);
  EXPECT_EQ(machine.available().of, "the control group '/'");
}

TEST(AvailableMemory, WhereNothingIsSaidHasNoLimit) {
  const Machine machine;
  machine.put("/proc/meminfo", "");
  machine.put("/proc/self/cgroup", "nonsense\n1:memory:relative\n::\n");
  EXPECT_EQ(machine.available().bytes, UINT64_MAX);
}

TEST(AvailableMemory, IsAskedForABudget) {
  EXPECT_TRUE(check_available(4096).ok());
  const Status status = check_available(uint64_t{1} << 60);
  ASSERT_EQ(status.code(), TAILRACE_OUT_OF_MEMORY);
  EXPECT_NE(status.fault().message.find("1099511627776 MiB"), std::string::npos) << status.fault().message;
}

TEST(AvailableMemory, IsNotPromisedTwice) {
  const Status status = check_available(4096, uint64_t{1} << 60);
  ASSERT_EQ(status.code(), TAILRACE_OUT_OF_MEMORY);
  EXPECT_NE(status.fault().message.find("(1099511627776 MiB of them for other clients)"), std::string::npos)
      << status.fault().message;
}

}  // namespace
}  // namespace tailrace::impl
