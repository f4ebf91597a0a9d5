// BufferMemory: the memory that the processes of a node share, and who of them lives.
#include "mpiio/buffer/buffer_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace tailrace::mpiio {
namespace {

class SharedMemory : public testing::Test {
 protected:
  ~SharedMemory() override { ::unlink(path_.c_str()); }
  std::unique_ptr<BufferMemory> open(uint32_t rank) const { return BufferMemory::open(path_, kBytes, 4096, rank); }

  static constexpr uint64_t kBytes = 1 << 20;
  const std::string path_ = testing::TempDir() + "tailrace_buffer_" + std::to_string(::getpid());
};

TEST_F(SharedMemory, IsOneForAll) {
  const auto one = open(0);
  const auto other = open(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  ASSERT_TRUE(one->provide(8192, 4096));
  one->bytes()[8200] = std::byte{7};
  EXPECT_EQ(other->bytes()[8200], std::byte{7});
  EXPECT_EQ(other->bytes().size(), kBytes);
}

TEST_F(SharedMemory, ShowsWhoLives) {
  const auto one = open(0);
  auto other = open(1);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  for (const uint32_t rank : {0U, 1U}) {
    EXPECT_TRUE(one->lives(rank)) << "its own process, too";
    EXPECT_TRUE(other->lives(rank));
  }
  EXPECT_FALSE(one->lives(2));
  other.reset();
  EXPECT_TRUE(one->lives(0));
  EXPECT_FALSE(one->lives(1));
}

TEST_F(SharedMemory, TwoCannotHaveOneNumber) {
  const auto one = open(0);
  EXPECT_TRUE(one != nullptr);
  EXPECT_TRUE(open(0) == nullptr);
}

TEST_F(SharedMemory, IsRefusedWhereOthersMayReadItOrItHasAnotherSize) {
  ASSERT_TRUE(open(0) != nullptr);
  EXPECT_TRUE(BufferMemory::open(path_, 2 * kBytes, 4096, 0) == nullptr);
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  EXPECT_TRUE(open(0) == nullptr);
}

TEST_F(SharedMemory, IsRefusedWithoutASignalWhereFilesMustBeSmall) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{kBytes / 2, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_TRUE(open(0) == nullptr);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
}

}  // namespace
}  // namespace tailrace::mpiio
