// Segment: its pages are allocated before anyone writes into them, in both mappings; if shared memory is full, the
// request fails and may be repeated.
#include "place/core/segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "private_mount.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

using Missing = PrivateDirectory::Missing;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr ChannelSizes kSizes{.variables = 3};

// A directory on a small file system of its own, in which others may take room.
class SegmentOnASmallDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
    auto directory = PrivateDirectory::open(scratch_ / "job", Missing::create);
    ASSERT_TRUE(directory.ok());
    directory_.emplace(std::move(directory).value());
  }
  Result<std::unique_ptr<Segment>> create(const std::string& name, uint64_t pool) {
    auto segment = Segment::create(*directory_, name, kSizes, pool);
    if (segment.ok()) segment.value()->take_ahead();
    return segment;
  }
  // As the client does.
  std::unique_ptr<Segment> map(const std::string& name, uint64_t pool) {
    auto file = directory_->open_file(name, O_RDWR);
    EXPECT_TRUE(file.ok());
    auto segment = Segment::map(std::move(file).value(), kSizes, pool);
    EXPECT_TRUE(segment.ok());
    return std::move(segment).value();
  }
  // Creates a segment of which nothing is allocated but the channel's parts.
  void create_untaken(const std::string& name, uint64_t pool) {
    ASSERT_TRUE(create(name, pool).ok());  // … and is gone again, with its thread
    const auto file = directory_->open_file(name, O_RDWR);
    ASSERT_TRUE(file.ok());
    ASSERT_EQ(fallocate(file.value().get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(pool)),
              0);
  }
  // Creates a file that leaves less than `bytes` of the disk.
  void fill(uint64_t bytes) {
    const auto file = directory_->open_file("filler", O_RDWR | O_CREAT);
    ASSERT_TRUE(file.ok());
    const uint64_t size = directory_->free_bytes().value() - bytes;
    ASSERT_EQ(posix_fallocate(file.value().get(), 0, static_cast<off_t>(size)), 0);
  }

  const ScratchDirectory scratch_;
  const test::PrivateMount disk_ = test::PrivateMount::small_disk(scratch_.path(), "16m");
  std::optional<PrivateDirectory> directory_;
};

TEST_F(SegmentOnASmallDisk, ThatIsTooSmallIsRefusedBeforeAnyOfItIsTaken) {
  const auto segment = create("large", 16 * kMiB);
  ASSERT_FALSE(segment.ok());
  const Fault& fault = segment.status().fault();
  EXPECT_EQ(fault.code, TAILRACE_OUT_OF_MEMORY);
  EXPECT_EQ(fault.system_errno, ENOSPC);
  EXPECT_EQ(fault.file, directory_->path());
  EXPECT_NE(fault.message.find("16 MiB free"), std::string::npos) << fault.message;
  EXPECT_EQ(directory_->names().value(), std::vector<std::string>());
}

TEST_F(SegmentOnASmallDisk, ThatIsPromisedToOthersIsNotPromisedAgain) {
  create_untaken("first", 10 * kMiB);
  const auto second = create("second", 10 * kMiB);
  ASSERT_FALSE(second.ok());
  const Fault& fault = second.status().fault();
  EXPECT_EQ(fault.code, TAILRACE_OUT_OF_MEMORY);
  EXPECT_NE(fault.message.find("10 MiB of them for other clients"), std::string::npos) << fault.message;
  EXPECT_EQ(directory_->names().value(), std::vector<std::string>{"first"});
  EXPECT_TRUE(create("third", 2 * kMiB).ok());
}

TEST_F(SegmentOnASmallDisk, ThatFillsUpLaterIsToldToWhoTakes) {
  constexpr uint64_t kPool = 8 * kMiB;
  create_untaken("one", kPool);
  const auto segment = map("one", kPool);
  ASSERT_TRUE(segment->take(*directory_, 0, 3 * kMiB).ok());
  fill(kMiB);
  const Status status = segment->take(*directory_, 3 * kMiB, 4 * kMiB);
  ASSERT_EQ(status.code(), TAILRACE_OUT_OF_MEMORY);
  EXPECT_EQ(status.fault().system_errno, ENOSPC);
  EXPECT_EQ(status.fault().file, directory_->path());
  EXPECT_NE(status.fault().message.find("8 MiB of a client's budget"), std::string::npos) << status.fault().message;
  ASSERT_TRUE(directory_->remove_file("filler").ok());
  ASSERT_TRUE(segment->take(*directory_, 3 * kMiB, 5 * kMiB).ok());
  std::ranges::fill(segment->pool(), std::byte{1});  // … and there is no signal
}

// The first of two blocks is small, so the second begins within a page.
TEST_F(SegmentOnASmallDisk, ThatFillsUpLaterIsToldToWhoTakesBehindASmallBlock) {
  constexpr uint64_t kPool = 8 * kMiB;
  create_untaken("one", kPool);
  const auto segment = map("one", kPool);
  ASSERT_TRUE(segment->take(*directory_, 0, 64).ok());
  fill(kMiB);
  EXPECT_EQ(segment->take(*directory_, 64, 4 * kMiB).code(), TAILRACE_OUT_OF_MEMORY);
  EXPECT_FALSE(segment->channel().is_lost()) << "there was a signal";
  ASSERT_TRUE(directory_->remove_file("filler").ok());
  ASSERT_TRUE(segment->take(*directory_, 64, kPool - 64).ok());
  std::ranges::fill(segment->pool(), std::byte{1});
}

// How much of it its creator has allocated by then depends on timing.
TEST_F(SegmentOnASmallDisk, IsTheSameFromBothSides) {
  constexpr uint64_t kPool = 7 * kMiB + 4096;
  const auto server = create("one", kPool);
  ASSERT_TRUE(server.ok());
  const auto client = map("one", kPool);
  for (const Segment* side : {server.value().get(), client.get()}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(side->pool().data()) % kHugePage, 0u);
  }
  for (uint64_t at = 0; at < kPool; at += kMiB) {
    const uint64_t bytes = std::min(kMiB, kPool - at);
    ASSERT_TRUE(client->take(*directory_, at, bytes).ok());
    std::ranges::fill(client->pool().subspan(at, bytes), std::byte(at / kMiB + 1));
  }
  for (uint64_t at = 0; at < kPool; at += 512) {
    ASSERT_EQ(server.value()->pool()[at], std::byte(at / kMiB + 1)) << at;
  }
  client->control().client_state.store(ChannelControl::kClientHere);
  EXPECT_EQ(server.value()->control().client_state.load(), ChannelControl::kClientHere);
}

TEST_F(SegmentOnASmallDisk, IsTakenAsFarAsItIsUsedAndOnceMore) {
  const uint64_t before = directory_->free_bytes().value();
  auto server = Segment::create(*directory_, "one", kSizes, 12 * kMiB);
  ASSERT_TRUE(server.ok());
  server.value()->take_ahead(2 * kMiB);
  const auto client = map("one", 12 * kMiB);
  const uint64_t parts = ChannelMemory(kSizes).bytes();
  const auto taken = [&] { return before - directory_->free_bytes().value() - parts; };
  const auto await = [&](uint64_t bytes) {
    while (taken() < bytes) sched_yield();
  };
  await(2 * kMiB);
  ASSERT_TRUE(client->take(*directory_, 0, kMiB).ok());
  server.value()->follow();
  await(4 * kMiB);  // the part in which the third MiB is
  ASSERT_TRUE(client->take(*directory_, kMiB, 3 * kMiB).ok());
  server.value()->follow();
  server.value()->follow();
  await(8 * kMiB);
  server.value().reset();
  EXPECT_EQ(taken(), 8 * kMiB);
}

// A client may write anything into its segment.
TEST_F(SegmentOnASmallDisk, IsTakenWithinItsBoundsWhateverTheClientSays) {
  const auto server = Segment::create(*directory_, "one", kSizes, 4 * kMiB);
  ASSERT_TRUE(server.ok());
  server.value()->take_ahead(2 * kMiB);
  for (const uint64_t used : {UINT64_MAX, uint64_t{1} << 40, uint64_t{0}}) {
    server.value()->control().used.store(used);
    server.value()->follow();
  }
  EXPECT_TRUE(server.value()->take(*directory_, 0, 4 * kMiB).ok());
}

TEST_F(SegmentOnASmallDisk, IsLetGoBeforeAllOfItIsTaken) {
  for (int count = 0; count < 20; ++count) {
    ASSERT_TRUE(create("one", 12 * kMiB).ok());
    ASSERT_TRUE(directory_->remove_file("one").ok());
  }
  EXPECT_EQ(directory_->free_bytes().value(), 16 * kMiB);
}

}  // namespace
}  // namespace tailrace::impl
