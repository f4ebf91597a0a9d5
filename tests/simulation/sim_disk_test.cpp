// The simulated disk itself: what a power cut keeps, what it may lose, and in which units.
#include "testing/simulation/sim_disk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tailrace::impl::simulation {
namespace {

std::vector<std::byte> filled(size_t size, int value) { return std::vector<std::byte>(size, std::byte(value)); }

void sync(SimDisk& disk, const InodePointer& inode) { disk.end_sync(disk.begin_sync(inode, "")); }
void sync_names(SimDisk& disk) { disk.end_sync(disk.begin_sync(nullptr, "d0")); }

TEST(SimDisk, KeepsWhatWasSynced) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SimDisk disk(seed);
    const InodePointer file = disk.create("d0/a");
    disk.write(file, 100, filled(3000, 1));
    sync(disk, file);
    sync_names(disk);
    disk.write(file, 5000, filled(10, 2));
    disk.crash();
    const InodePointer found = disk.find("d0/a");
    ASSERT_NE(found, nullptr);
    ASSERT_GE(found->bytes.size(), 3100u);
    EXPECT_TRUE(std::all_of(&found->bytes[100], &found->bytes[3100], [](std::byte b) { return b == std::byte{1}; }));
  }
}

// Over many seeds, unsynced sectors survive or are lost independently.
TEST(SimDisk, AnySectorsThatWereNotSyncedMayBeLost) {
  std::set<size_t> survivors;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SimDisk disk(seed);
    const InodePointer file = disk.create("d0/a");
    sync_names(disk);
    disk.write(file, 0, filled(4 * kSector, 1));
    disk.crash();
    const std::vector<std::byte>& bytes = disk.find("d0/a")->bytes;
    size_t set = 0;
    for (size_t sector = 0; sector < 4; ++sector) {
      if (bytes.size() > sector * kSector && bytes[sector * kSector] == std::byte{1}) set |= size_t{1} << sector;
    }
    survivors.insert(set);
  }
  EXPECT_EQ(survivors.size(), 16u) << "every subset of four sectors";
}

TEST(SimDisk, ASyncCoversOnlyWhatWasWrittenBeforeItBegan) {
  bool lost = false;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SimDisk disk(seed);
    const InodePointer file = disk.create("d0/a");
    sync_names(disk);
    const SyncPoint point = disk.begin_sync(file, "");
    disk.write(file, 0, filled(kSector, 1));
    disk.end_sync(point);
    disk.crash();
    const std::vector<std::byte>& bytes = disk.find("d0/a")->bytes;
    lost = lost || bytes.empty() || bytes[0] == std::byte{0};
  }
  EXPECT_TRUE(lost);
}

// A sync that began before a truncation has old bytes beyond the new end; they must not come back.
TEST(SimDisk, ASyncThatBeganBeforeATruncationDoesNotUndoIt) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SimDisk disk(seed);
    const InodePointer file = disk.create("d0/a");
    sync_names(disk);
    disk.write(file, 0, filled(3 * kSector, 1));
    const SyncPoint before = disk.begin_sync(file, "");
    disk.resize(file, kSector / 2);
    disk.end_sync(before);
    disk.extend(file, 2 * kSector);
    sync(disk, file);
    disk.crash();
    const std::vector<std::byte>& bytes = disk.find("d0/a")->bytes;
    ASSERT_EQ(bytes.size(), 2 * kSector);
    EXPECT_TRUE(std::all_of(&bytes[0], &bytes[kSector / 2], [](std::byte b) { return b == std::byte{1}; }));
    EXPECT_TRUE(std::all_of(&bytes[kSector / 2], &bytes[2 * kSector], [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(SimDisk, ANameThatWasNotSyncedMayBeTheOldOrTheNewOne) {
  std::set<std::vector<std::string>> seen;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SimDisk disk(seed);
    disk.create("d0/a");
    sync_names(disk);
    EXPECT_TRUE(disk.rename("d0/a", "d0/b"));
    EXPECT_EQ(disk.names(), std::vector<std::string>{"d0/b"});
    disk.crash();
    seen.insert(disk.names());
  }
  EXPECT_EQ(seen, (std::set<std::vector<std::string>>{{"d0/a"}, {"d0/b"}}));
}

TEST(SimDisk, ARenameReplacesAndARemovedNameIsGone) {
  SimDisk disk(1);
  disk.put("d0/a", filled(1, 1));
  disk.put("d0/b", filled(2, 2));
  EXPECT_TRUE(disk.rename("d0/a", "d0/b"));
  EXPECT_EQ(disk.find("d0/b")->bytes, filled(1, 1));
  EXPECT_FALSE(disk.rename("d0/a", "d0/c"));
  EXPECT_TRUE(disk.remove("d0/b"));
  EXPECT_FALSE(disk.remove("d0/b"));
  EXPECT_TRUE(disk.names().empty());
}

}  // namespace
}  // namespace tailrace::impl::simulation
