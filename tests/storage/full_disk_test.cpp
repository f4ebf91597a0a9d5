// A full disk, really full: the back ends on a tmpfs of one megabyte, mounted where no other process sees it.
//
// It needs the right to mount, and is skipped without it. The mount is in a name space of this process and ends with
// it, even if the test crashes.
#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>

#include "back_ends.hpp"
#include "storage_driver.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kDiskBytes = 1 << 20;

bool mount_small_disk(const std::string& path) {
  if (unshare(CLONE_NEWNS) != 0) return false;
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return mount("tailrace-test", path.c_str(), "tmpfs", 0, "size=1m") == 0;
}

class FullDisk : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(BackEnds, FullDisk, ::testing::Values("posix", "scattering", "uring"),
                         [](const auto& test) { return test.param; });

TEST_P(FullDisk, IsToldAsENOSPC) {
  TemporaryDirectory directory;
  if (!mount_small_disk(directory.path())) GTEST_SKIP() << "mounting a tmpfs: " << std::strerror(errno);
  {
    Doorbell doorbell;
    Result<std::unique_ptr<Storage>> made = make_back_end(GetParam(), doorbell);
    if (!made.ok()) GTEST_SKIP() << made.status().fault().message;
    Storage& storage = *made.value();
    const FileHandle file = storage.files().open(directory / "large", OpenMode::create, 0).value().file;

    const Status refused = storage.files().allocate(file, 0, 2 * kDiskBytes);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.fault().system_errno, ENOSPC);

    std::vector<std::byte> bytes(2 * kDiskBytes, std::byte{3});
    const int64_t some = run(storage, doorbell, Transfer::Kind::write, file, 0, bytes);
    EXPECT_GT(some, 0);
    EXPECT_LE(some, kDiskBytes);
    const auto left = std::span(bytes).subspan(static_cast<size_t>(some));
    const iovec segment = segment_of(left);
    Transfer with_room{Transfer::Kind::write, false, file, static_cast<uint64_t>(some), std::span(&segment, 1), 0};
    with_room.room = left.size();
    EXPECT_EQ(run(storage, doorbell, with_room), -ENOSPC);
    EXPECT_EQ(run(storage, doorbell, Transfer::Kind::write, file, static_cast<uint64_t>(some), left), -ENOSPC);
    storage.files().close(file);
  }
  EXPECT_EQ(umount2(directory.path().c_str(), MNT_DETACH), 0);
}

}  // namespace
}  // namespace tailrace::impl
