// Operations on whole files through a forwarder: they are begun, and nobody waits for their answers.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "testing/forward_rig.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

using Kind = FileOperation::Kind;

class Operations : public ::testing::Test {
 protected:
  Operations() {
    rig_.add_forwarder("io1");
    rig_.add_forwarder("io2");
  }

  FileHandle write(ForwardedClient& client, const std::string& path) {
    const FileHandle file = client.open(path, OpenMode::create);
    EXPECT_EQ(client.run(Transfer::Kind::write, file, 0, bytes_), static_cast<int64_t>(bytes_.size()));
    return file;
  }
  std::string host_of_the_file() const {
    return rig_.forwarders.at("io1")->forwarder.open_files() > 0 ? "io1" : "io2";
  }
  Status end_of(ForwardedClient& client) {
    for (int rounds = 0; rounds < 100'000; ++rounds) {
      client.reap();
      if (const auto end = client.storage().reap_operation()) {
        EXPECT_EQ(end->tag, 7u);
        EXPECT_FALSE(client.storage().reap_operation()) << "it ends once";
        return end->status;
      }
      rig_.turn();
    }
    return Status(TAILRACE_TIMEOUT, "the operation does not end");
  }

  // Kills the file's forwarder at several moments of an operation, which succeeds all the same.
  void expect_outlives(Kind kind, const std::string& suffix, const std::function<void(const std::string&)>& check) {
    for (const int turns : {0, 1, 2, 3, 5, 8}) {
      SCOPED_TRACE(turns);
      const std::string name = std::to_string(turns);
      ForwardedClient client(rig_, {"io1", "io2"}, RemoteFiles::OnLoss::next, TransferRecord::Confirm::written,
                             "node" + name);
      const FileHandle file = write(client, scratch_ / (name + suffix));
      const std::string host = host_of_the_file();
      client.storage().submit(FileOperation{.kind = kind, .file = file, .path = scratch_ / name, .tag = 7});
      for (int i = 0; i < turns; ++i) rig_.turn();
      rig_.kill(host);
      const Status status = end_of(client);
      EXPECT_TRUE(status.ok()) << status.fault().message;
      check(name);
      rig_.add_forwarder(host);
    }
  }

  const ScratchDirectory scratch_;
  ForwardRig rig_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(3000, std::byte{9});
};

// A forwarder whose file system is slow with names serves everybody else meanwhile, and stays in touch.
TEST_F(Operations, OnASlowForwarderDelayNobodyElse) {
  ForwarderNode& node = rig_.add_forwarder("io3");
  ForwardedClient quick(rig_, {"io3"}, RemoteFiles::OnLoss::fail, TransferRecord::Confirm::written, "quick");
  ForwardedClient slow(rig_, {"io3"}, RemoteFiles::OnLoss::fail, TransferRecord::Confirm::written, "slow");
  const FileHandle file = write(quick, scratch_ / "quick");
  node.storage.operations_held = true;
  slow.storage().submit(
      FileOperation{.kind = Kind::open, .path = scratch_ / "slow", .mode = OpenMode::create, .tag = 7});
  while (node.storage.operations() == 0) {
    slow.reap();
    rig_.turn();
  }
  const Nanoseconds begun = rig_.clock.now();
  while (rig_.clock.now() < begun + std::chrono::seconds(30)) {
    slow.reap();
    EXPECT_EQ(quick.run(Transfer::Kind::write, file, 0, bytes_), static_cast<int64_t>(bytes_.size()));
    rig_.turn();
  }
  EXPECT_FALSE(slow.storage().reap_operation());
  EXPECT_EQ(node.log.text().find("lost"), std::string::npos) << "its clients still hear it";
  node.storage.release_operations();
  EXPECT_TRUE(end_of(slow).ok());
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "slow"));
}

// A call that a client repeats on a new link waits for what it called by the link before, which may still be carried
// out.
TEST_F(Operations, OfAnEarlierLinkEndFirst) {
  ForwarderNode& node = rig_.add_forwarder("io3");
  ForwardedClient client(rig_, {"io3"});
  const FileHandle file = write(client, scratch_ / "f");
  node.storage.operations_held = true;
  client.storage().submit(FileOperation{.kind = Kind::truncate, .file = file, .size = 10, .tag = 7});
  while (node.storage.operations() == 0) {
    client.reap();
    rig_.turn();
  }
  rig_.network.cut("node", "io3");
  int turns = 0;
  rig_.during_turn = [&] {
    if (++turns != 1000) return;
    EXPECT_EQ(node.storage.operations(), 1u) << "the second opening waits for the truncation";
    node.storage.release_operations();
  };
  EXPECT_TRUE(end_of(client).ok());
  EXPECT_GT(turns, 1000);
  EXPECT_EQ(std::filesystem::file_size(scratch_ / "f"), 10u);
}

// The rig lets forwarders work only while a client waits, or in turn(): a client that waited would move the clock.
TEST_F(Operations, AreBegunWithoutWaiting) {
  ForwardedClient client(rig_, {"io1", "io2"});
  const FileHandle file = write(client, scratch_ / "a.part");
  const Nanoseconds before = rig_.clock.now();
  client.storage().submit(FileOperation{.kind = Kind::publish, .file = file, .path = scratch_ / "a", .tag = 7});
  for (int i = 0; i < 100; ++i) {
    client.reap();
    EXPECT_FALSE(client.storage().reap_operation());
  }
  EXPECT_EQ(rig_.clock.now(), before);
  EXPECT_TRUE(end_of(client).ok());
  EXPECT_EQ(bytes_of_file(scratch_ / "a"), bytes_);
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "a.part"));
  EXPECT_EQ(rig_.forwarders.at("io1")->forwarder.open_files() + rig_.forwarders.at("io2")->forwarder.open_files(),
            0u);
}

TEST_F(Operations, TruncateRemoveAndCloseAreThoseOfTheFileSystem) {
  ForwardedClient client(rig_, {"io1", "io2"});
  const FileHandle file = write(client, scratch_ / "a");
  client.storage().submit(FileOperation{.kind = Kind::truncate, .file = file, .size = 100, .tag = 7});
  ASSERT_TRUE(end_of(client).ok());
  EXPECT_EQ(std::filesystem::file_size(scratch_ / "a"), 100u);
  client.storage().submit(FileOperation{.kind = Kind::remove, .file = file, .path = scratch_ / "a", .tag = 7});
  ASSERT_TRUE(end_of(client).ok());
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "a"));
  const FileHandle other = write(client, scratch_ / "b");
  client.storage().submit(FileOperation{.kind = Kind::close, .file = other, .tag = 7});
  ASSERT_TRUE(end_of(client).ok());
  EXPECT_EQ(rig_.forwarders.at("io1")->forwarder.open_files() + rig_.forwarders.at("io2")->forwarder.open_files(),
            0u);
}

TEST_F(Operations, ARefusedPublicationNamesTheReason) {
  ForwardedClient client(rig_, {"io1", "io2"});
  std::filesystem::create_directory(scratch_ / "a");  // in its place
  const FileHandle file = write(client, scratch_ / "a.part");
  client.storage().submit(
      FileOperation{.kind = Kind::publish, .file = file, .path = scratch_ / "a", .replace = false, .tag = 7});
  const Status status = end_of(client);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.fault().system_errno, EEXIST);
  EXPECT_NE(status.fault().message.find(scratch_ / "a"), std::string::npos) << status.fault().message;
}

// A file that the lost forwarder has renamed is found under its new name; any other is renamed by another forwarder.
TEST_F(Operations, APublicationOutlivesItsForwarder) {
  expect_outlives(Kind::publish, ".part", [this](const std::string& name) {
    EXPECT_EQ(bytes_of_file(scratch_ / name), bytes_);
    EXPECT_FALSE(std::filesystem::exists(scratch_ / (name + ".part")));
  });
}

TEST_F(Operations, ARemovalOutlivesItsForwarder) {
  expect_outlives(Kind::remove, "",
                  [this](const std::string& name) { EXPECT_FALSE(std::filesystem::exists(scratch_ / name)); });
}

// A forwarder that lives and never answers is given up, as one is that never answers a call that waits.
TEST_F(Operations, AnAnswerThatNeverComesEndsTheLink) {
  ForwardedClient client(rig_, {"io1", "io2"});
  const FileHandle file = write(client, scratch_ / "a.part");
  const std::string host = host_of_the_file();
  rig_.network.silence("node", host);
  client.storage().submit(FileOperation{.kind = Kind::publish, .file = file, .path = scratch_ / "a", .tag = 7});
  const Status status = end_of(client);
  EXPECT_TRUE(status.ok()) << status.fault().message;
  EXPECT_EQ(bytes_of_file(scratch_ / "a"), bytes_);
}

// A forwarder takes so many calls of one client; further ones wait here.
TEST_F(Operations, AnyNumberAtOnceKeepsTheLink) {
  ForwardedClient client(rig_, {"io1", "io2"});
  constexpr int kMany = 300;
  for (int i = 0; i < kMany; ++i) {
    client.storage().submit(
        FileOperation{.kind = Kind::open, .path = scratch_ / std::to_string(i), .mode = OpenMode::create});
  }
  int opened = 0;
  for (int rounds = 0; opened < kMany && rounds < 100'000; ++rounds) {
    client.reap();
    while (auto end = client.storage().reap_operation()) {
      ASSERT_TRUE(end->status.ok()) << end->status.fault().message;
      client.storage().submit(FileOperation{.kind = Kind::stat, .path = scratch_ / std::to_string(opened)});
      ++opened;
    }
    rig_.turn();
  }
  EXPECT_GE(opened, kMany);
  for (const auto& [host, node] : rig_.forwarders) EXPECT_EQ(node->log.complaints(), std::vector<std::string>{});
  EXPECT_EQ(client.log.complaints(), std::vector<std::string>{});
}

// A forwarder that shall end sleeps while its file system hangs.
TEST_F(Operations, AForwarderThatWaitsForOneToEndIsNotDueBeforeIt) {
  ForwardedClient client(rig_, {"io1"});
  ForwarderNode& node = *rig_.forwarders.at("io1");
  node.storage.operations_held = true;
  client.storage().submit(FileOperation{.kind = Kind::open, .path = scratch_ / "a", .mode = OpenMode::create});
  for (int rounds = 0; rounds < 1000 && node.storage.operations() == 0; ++rounds) {
    client.reap();
    rig_.turn();
  }
  ASSERT_EQ(node.storage.operations(), 1u);
  node.forwarder.leave();
  const Nanoseconds end = rig_.clock.now() + Forwarder::Options().drain + std::chrono::seconds(1);
  while (rig_.clock.now() < end) {
    client.reap();
    rig_.turn();
  }
  node.forwarder.step();
  EXPECT_GT(node.forwarder.due().value_or(end + end), rig_.clock.now());
  node.storage.release_operations();
  for (int rounds = 0; rounds < 1000 && !node.forwarder.has_left(); ++rounds) {
    client.reap();
    rig_.turn();
  }
  EXPECT_TRUE(node.forwarder.has_left());
}

}  // namespace
}  // namespace tailrace::impl
