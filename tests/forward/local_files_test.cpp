// Forwarders that are lost where this node itself goes on (OnLoss::direct), and its file system is slow with names.
#include <gtest/gtest.h>

#include "testing/forward_rig.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

using Kind = Transfer::Kind;

class LocalFiles : public ::testing::Test {
 protected:
  LocalFiles() {
    rig_.add_forwarder("io1");
    rig_.add_forwarder("io2");
  }
  ForwardedClient client() { return {rig_, {"io1", "io2"}, RemoteFiles::OnLoss::direct}; }

  const ScratchDirectory scratch_;
  ForwardRig rig_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(4000, std::byte{7});
};

// Where this node itself goes on, its file system may be slow with names: whatever needs none of them goes on.
TEST_F(LocalFiles, TheNodesOwnOperationsDelayNobodyElse) {
  ForwardedClient of = client();
  PlainStorage& local = *rig_.last_local;
  const FileHandle slow = of.open(scratch_ / "slow");
  const FileHandle quick = of.open(scratch_ / "quick");
  rig_.kill("io1");
  rig_.kill("io2");
  for (const FileHandle file : {slow, quick}) EXPECT_EQ(of.run(Kind::write, file, 0, bytes_), 4000);
  local.operations_held = true;
  const auto submit = [&](FileOperation operation) { of.storage().submit(std::move(operation)); };
  submit({.kind = FileOperation::Kind::publish, .file = slow, .path = scratch_ / "published", .tag = 7});
  submit({.kind = FileOperation::Kind::open, .path = scratch_ / "third", .tag = 8});
  EXPECT_EQ(of.run(Kind::write, quick, 4000, bytes_), 4000);
  EXPECT_FALSE(of.storage().reap_operation());
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "published"));
  local.release_operations();
  std::map<uint64_t, FileOperationEnd> ends;
  for (int turns = 0; turns < 10'000 && ends.size() < 2; ++turns) {
    of.reap();
    rig_.turn();  // the third file may be the first one of its forwarder, which then still is to be found lost
    while (auto end = of.storage().reap_operation()) ends[end->tag] = *end;
  }
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_TRUE(ends.at(7).status.ok());
  EXPECT_EQ(bytes_of_file(scratch_ / "published"), bytes_);
  ASSERT_TRUE(ends.at(8).status.ok());
  of.files().close(ends.at(8).opened.file);
  of.files().close(quick);
}

// Files that move to this node move at once: one whose opening hangs holds up no other.
TEST_F(LocalFiles, FilesMoveIndependently) {
  ForwardedClient of = client();
  PlainStorage& local = *rig_.last_local;
  const FileHandle one = of.open(scratch_ / "one");
  const FileHandle other = of.open(scratch_ / "other");
  local.operations_held = true;
  rig_.kill("io1");
  rig_.kill("io2");
  for (int turns = 0; turns < 10'000 && local.operations() < 2; ++turns) {
    of.reap();
    rig_.turn();
  }
  EXPECT_EQ(local.operations(), 2u);
  local.release_operations();
  for (const FileHandle file : {one, other}) {
    EXPECT_EQ(of.run(Kind::write, file, 0, bytes_), 4000);
    of.files().close(file);
  }
}

// A lock moves to this node, whose file system is slow with names, and is released there.
TEST_F(LocalFiles, TheNodesOwnLocksAreTakenWithoutWaiting) {
  ForwardedClient of = client();
  PlainStorage& local = *rig_.last_local;
  auto lock = of.files().lock(scratch_ / "lock", "me");
  ASSERT_TRUE(lock.ok());
  local.operations_held = true;
  rig_.kill("io1");
  rig_.kill("io2");
  while (local.operations() == 0) {
    of.reap();
    rig_.turn();
  }
  EXPECT_FALSE(lock.value()->held());
  local.release_operations();
  of.reap();
  EXPECT_TRUE(lock.value()->held());
  EXPECT_TRUE(of.files().is_locked(scratch_ / "lock"));
  lock.value().reset();
  EXPECT_FALSE(of.files().is_locked(scratch_ / "lock"));
}

}  // namespace
}  // namespace tailrace::impl
