// SharedRoom: free and promised bytes are those of one moment, though others take memory between the two counts.
#include "place/core/shared_room.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

namespace tailrace::impl {
namespace {

// A file system with one file, which takes `rate` bytes after each count, until it has all that it was promised.
class TakingFile {
 public:
  TakingFile(uint64_t free, uint64_t promised, uint64_t rate) : free_(free), promised_(promised), rate_(rate) {}

  Result<SharedRoom> measure() {
    return shared_room([&] { return counted(free_); }, [&] { return counted(promised_); });
  }
  int counts() const { return counts_; }

 private:
  Result<uint64_t> counted(const uint64_t& bytes) {
    const uint64_t result = bytes;
    const uint64_t taken = std::min(rate_, promised_);
    free_ -= taken;
    promised_ -= taken;
    ++counts_;
    return result;
  }

  uint64_t free_;
  uint64_t promised_;
  const uint64_t rate_;
  int counts_ = 0;
};

TEST(SharedRoom, IsThatOfOneMoment) {
  TakingFile file(24, 14, 6);
  const auto room = file.measure();
  ASSERT_TRUE(room.ok());
  EXPECT_TRUE(room.value().has(10));
  EXPECT_FALSE(room.value().has(11)) << room.value().free << " free, " << room.value().promised << " promised";
}

TEST(SharedRoom, IsCountedOnceWhereNothingIsTaken) {
  TakingFile file(24, 14, 0);
  const auto room = file.measure();
  ASSERT_TRUE(room.ok());
  EXPECT_EQ(room.value().free, 24u);
  EXPECT_EQ(room.value().promised, 14u);
  EXPECT_EQ(file.counts(), 3);
}

TEST(SharedRoom, IsNeverMoreThanThereIsWhereTakingGoesOn) {
  TakingFile file(3000, 2000, 1);
  const auto room = file.measure();
  ASSERT_TRUE(room.ok());
  EXPECT_EQ(file.counts(), 1 + 2 * kRoomTries);
  EXPECT_FALSE(room.value().has(1001));
}

TEST(SharedRoom, IsUnknownIfACountFails) {
  const auto fails = [] { return Result<uint64_t>(Status::of_errno("list", "a directory", EIO)); };
  const auto works = [] { return Result<uint64_t>(uint64_t{1}); };
  EXPECT_FALSE(shared_room(fails, works).ok());
  EXPECT_FALSE(shared_room(works, fails).ok());
}

}  // namespace
}  // namespace tailrace::impl
