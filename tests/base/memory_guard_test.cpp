// Memory of a truncated file is replaced by zeros and marked; a fault anywhere else ends the process.
#include "base/memory/memory_guard.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>
#include <vector>

#include "base/os/file_descriptor.hpp"

namespace {

using namespace tailrace::impl;

constexpr size_t kPage = 4096;
constexpr size_t kBytes = 16 * kPage;

// A file in memory, full of ones, mapped.
class Shared {
 public:
  Shared() : file_(memfd_create("memory_guard_test", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(file_.get(), kBytes), 0);
    memory_ = static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0));
    std::fill(memory_, memory_ + kBytes, std::byte{1});
  }
  ~Shared() { munmap(memory_, kBytes); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  std::byte* begin() const { return memory_; }
  void cut(size_t bytes) { ASSERT_EQ(ftruncate(file_.get(), static_cast<off_t>(bytes)), 0); }
  int at(size_t offset) const { return static_cast<int>(*static_cast<volatile std::byte*>(memory_ + offset)); }

 private:
  FileDescriptor file_;
  std::byte* memory_ = nullptr;
};

TEST(MemoryGuard, ReplacesWhatIsLostByZerosAndSaysSo) {
  survive_lost_memory();
  Shared one;
  Shared other;
  const Result<MemoryGuard> guard = MemoryGuard::watch(one.begin(), kBytes);
  const Result<MemoryGuard> others = MemoryGuard::watch(other.begin(), kBytes);
  ASSERT_TRUE(guard.ok() && others.ok());
  one.cut(kPage);
  EXPECT_EQ(one.at(0), 1);
  EXPECT_FALSE(guard.value().lost()->load());
  EXPECT_EQ(one.at(kBytes - 1), 0);
  EXPECT_TRUE(guard.value().lost()->load());
  EXPECT_EQ(one.at(0), 0) << "all of it is replaced";
  *one.begin() = std::byte{2};
  EXPECT_EQ(one.at(0), 2) << "it can be written";
  EXPECT_FALSE(others.value().lost()->load());
  EXPECT_EQ(other.at(kBytes - 1), 1);
}

TEST(MemoryGuard, ServesSeveralThreads) {
  survive_lost_memory();
  for (int round = 0; round < 20; ++round) {
    Shared shared;
    const Result<MemoryGuard> guard = MemoryGuard::watch(shared.begin(), kBytes);
    ASSERT_TRUE(guard.ok());
    shared.cut(0);
    std::vector<std::thread> threads;
    for (size_t page = 0; page < 4; ++page) {
      threads.emplace_back([&shared, &guard, page] {
        EXPECT_EQ(shared.at(page * kPage), 0);
        EXPECT_TRUE(guard.value().lost()->load());
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(MemoryGuard, IsFreeForOthersAfterItsEnd) {
  survive_lost_memory();
  Shared shared;
  {
    std::vector<MemoryGuard> all;
    for (size_t i = 0; i < MemoryGuard::kMost; ++i) {
      Result<MemoryGuard> guard = MemoryGuard::watch(shared.begin(), kBytes);
      ASSERT_TRUE(guard.ok());
      all.push_back(std::move(guard).value());
    }
    EXPECT_EQ(MemoryGuard::watch(shared.begin(), kBytes).status().code(), TAILRACE_OUT_OF_MEMORY);
  }
  EXPECT_TRUE(MemoryGuard::watch(shared.begin(), kBytes).ok());
}

void look_elsewhere() {
  survive_lost_memory();
  Shared watched;
  Shared other;
  const Result<MemoryGuard> guard = MemoryGuard::watch(watched.begin(), kBytes);
  other.cut(0);
  (void)other.at(0);
}

void be_sent_one() {
  survive_lost_memory();
  raise(SIGBUS);
}

TEST(MemoryGuardDeathTest, AFaultAnywhereElseEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(look_elsewhere(), "");
  EXPECT_DEATH(be_sent_one(), "");
}

void watch_unasked() {
  Shared shared;
  const Result<MemoryGuard> guard = MemoryGuard::watch(shared.begin(), kBytes);
  _exit(guard.ok() && guard.value().lost() == nullptr ? 0 : 1);
}

TEST(MemoryGuardDeathTest, DoesNothingInAProcessThatDidNotAsk) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process of its own
  EXPECT_EXIT(watch_unasked(), testing::ExitedWithCode(0), "");
}

}  // namespace
