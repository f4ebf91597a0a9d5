// Forwarders that are lost: nothing that was confirmed is lost, and what was not has its effect once.
#include <gtest/gtest.h>

#include "testing/forward_rig.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

using Kind = Transfer::Kind;
using OnLoss = RemoteFiles::OnLoss;

std::vector<std::byte> some_bytes(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 11);
  return bytes;
}

// Returns a path whose file belongs to the forwarder `host`, which is found by trying.
std::string path_at(ForwardRig& rig, ForwardedClient& client, const ScratchDirectory& scratch,
                    const std::string& host, const std::string& name = "f") {
  for (int i = 0;; ++i) {
    std::string path = scratch / (name + std::to_string(i));
    const FileHandle file = client.open(path);
    const bool there = rig.forwarders.at(host)->forwarder.open_files() > 0;
    client.files().close(file);
    rig.turn();
    if (there) return path;
  }
}

class Loss : public ::testing::Test {
 protected:
  Loss() {
    rig_.add_forwarder("io1");
    rig_.add_forwarder("io2");
  }
  ForwardedClient client(OnLoss on_loss, TransferRecord::Confirm confirm = TransferRecord::Confirm::written) {
    return {rig_, {"io1", "io2"}, on_loss, confirm};
  }
  // Submits writes that the forwarder takes, and does not end.
  void begin_writes(ForwardedClient& client, FileHandle file) {
    rig_.forwarders.at("io1")->storage.held = true;
    segments_.resize(4);
    for (size_t i = 0; i < 4; ++i) {
      segments_[i] = {bytes_.data() + i * 1000, 1000};
      client.submit(Kind::write, file, i * 1000, {&segments_[i], 1}, i);
    }
    for (int i = 0; i < 50; ++i) {
      client.reap();
      rig_.turn();
    }
    ASSERT_EQ(client.under_way, 4u);
  }
  void run_for(ForwardedClient& client, Nanoseconds time) {
    for (const Nanoseconds end = rig_.clock.now() + time; rig_.clock.now() < end; rig_.turn()) client.reap();
  }
  void expect_all_written(ForwardedClient& client) {
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(client.results.at(i), 1000);
  }

  const ScratchDirectory scratch_;
  ForwardRig rig_;
  std::vector<std::byte> bytes_ = some_bytes(4000);
  std::vector<iovec> segments_;
};

TEST_F(Loss, AnotherForwarderGoesOn) {
  ForwardedClient of = client(OnLoss::next);
  const std::string path = path_at(rig_, of, scratch_, "io1");
  const FileHandle file = of.open(path);
  begin_writes(of, file);
  rig_.kill("io1");
  const Nanoseconds before = rig_.clock.now();
  of.run_until_idle();
  EXPECT_LE(rig_.clock.now() - before, std::chrono::seconds(2));
  expect_all_written(of);
  ASSERT_TRUE(of.files().rename(file, path + ".new", true).ok());
  of.files().close(file);
  EXPECT_EQ(bytes_of_file(path + ".new"), bytes_);
}

TEST_F(Loss, TheNodeItselfGoesOn) {
  ForwardedClient of = client(OnLoss::direct);
  const std::string path = path_at(rig_, of, scratch_, "io1");
  const FileHandle file = of.open(path);
  begin_writes(of, file);
  rig_.kill("io1");
  rig_.kill("io2");
  of.run_until_idle();
  expect_all_written(of);
  ASSERT_TRUE(of.files().rename(file, path + ".new", true).ok());
  of.files().close(file);
  EXPECT_EQ(bytes_of_file(path + ".new"), bytes_);
  EXPECT_TRUE(of.files().stat(path + ".new").ok()) << "names are found without forwarders, too";
  const FileHandle second = of.open(scratch_ / "g");
  of.files().close(second);
}

// A forwarder is asked to leave while it releases a lock, which takes long.
TEST_F(Loss, ALockThatIsBeingReleasedDoesNotMove) {
  for (const OnLoss on_loss : {OnLoss::next, OnLoss::direct}) {
    ForwardedClient of = client(on_loss);
    auto lock = of.files().lock(scratch_ / "lock", "me");
    ASSERT_TRUE(lock.ok()) << lock.status().fault().message;
    for (auto& [host, node] : rig_.forwarders) node->storage.operations_held = true;
    int turns = 0;
    rig_.during_turn = [&] {
      ++turns;
      for (auto& [host, node] : rig_.forwarders) {
        if (turns == 20) node->forwarder.leave();
        if (turns == 200) node->storage.release_operations();
      }
    };
    lock.value().reset();
    EXPECT_GE(turns, 200);
    rig_.during_turn = {};
    EXPECT_FALSE(of.log.has("is lost with its forwarder"));
    for (auto& [host, node] : rig_.forwarders) EXPECT_FALSE(node->log.has("may not make")) << node->log.text();
    for (const char* const host : {"io1", "io2"}) {
      rig_.kill(host);
      rig_.add_forwarder(host);
    }
  }
}

TEST_F(Loss, FailsIfThatIsAsked) {
  ForwardedClient of = client(OnLoss::fail);
  const std::string path = path_at(rig_, of, scratch_, "io1");
  const FileHandle file = of.open(path);
  begin_writes(of, file);
  rig_.kill("io1");
  of.run_until_idle();
  for (size_t i = 0; i < 4; ++i) EXPECT_LT(of.results.at(i), 0);
  EXPECT_NE(of.storage().failure_of(file).fault().message.find("io1"), std::string::npos);
  const Status renamed = of.files().rename(file, path + ".new", true);
  EXPECT_EQ(renamed.code(), TAILRACE_SERVER_LOST);
  EXPECT_NE(renamed.fault().message.find("io1"), std::string::npos) << renamed.fault().message;
  of.files().close(file);
}

TEST_F(Loss, WithoutAnyForwarderLeftEverythingFails) {
  ForwardedClient of = client(OnLoss::next);
  const std::string path = path_at(rig_, of, scratch_, "io1");
  const FileHandle file = of.open(path);
  begin_writes(of, file);
  rig_.kill("io1");
  rig_.kill("io2");
  of.run_until_idle();
  for (size_t i = 0; i < 4; ++i) EXPECT_LT(of.results.at(i), 0);
  EXPECT_EQ(of.files().stat(path).status().code(), TAILRACE_SERVER_LOST);
  of.files().close(file);
}

// It is noticed within two seconds, and tried again. Another one goes on when this one surely does nothing more.
TEST_F(Loss, ASilentForwarderIsReplaced) {
  ForwardedClient of = client(OnLoss::next);
  const std::string path = path_at(rig_, of, scratch_, "io1");
  const FileHandle file = of.open(path);
  begin_writes(of, file);
  rig_.network.silence("node", "io1");
  const Nanoseconds before = rig_.clock.now();
  of.run_until_idle();
  EXPECT_LE(rig_.clock.now() - before, std::chrono::seconds(15));
  expect_all_written(of);
  of.files().close(file);
}

// The file of the silent forwarder waits until it may move. Nothing else waits with it.
TEST_F(Loss, DelaysOnlyTheFilesOfTheLostForwarder) {
  ForwardedClient of = client(OnLoss::next);
  const FileHandle lost = of.open(path_at(rig_, of, scratch_, "io1"));
  const std::string other_path = path_at(rig_, of, scratch_, "io2", "g");
  const FileHandle other = of.open(other_path);
  begin_writes(of, lost);
  rig_.network.silence("node", "io1");
  const iovec segment{bytes_.data(), 1000};
  bool waited = false;
  for (uint64_t tag = 100; of.results.empty(); ++tag) {
    const Nanoseconds begun = rig_.clock.now();
    of.submit(Kind::write, other, tag, {&segment, 1}, tag);
    of.storage().submit({.kind = FileOperation::Kind::stat, .path = other_path, .tag = tag});
    std::optional<FileOperationEnd> found;
    while (of.results.count(tag) == 0 || !found) {
      of.reap();
      if (!found) found = of.storage().reap_operation();
      if (of.results.count(tag) == 0 || !found) rig_.turn();
    }
    EXPECT_TRUE(found->status.ok());
    EXPECT_EQ(of.results.at(tag), 1000);
    EXPECT_LE(rig_.clock.now() - begun, std::chrono::milliseconds(100));
    of.results.erase(tag);
    waited = waited || rig_.clock.now() - begun > Nanoseconds::zero();
    rig_.turn();
  }
  EXPECT_TRUE(waited);
  of.run_until_idle();
  expect_all_written(of);
}

TEST_F(Loss, AForwarderThatIsHeardAgainGoesOn) {
  ForwardedClient of = client(OnLoss::next);
  const std::string path = path_at(rig_, of, scratch_, "io1");
  const FileHandle file = of.open(path);
  begin_writes(of, file);
  rig_.network.silence("node", "io1");
  const Nanoseconds before = rig_.clock.now();
  rig_.during_turn = [&] {
    if (rig_.clock.now() - before < std::chrono::seconds(5)) return;
    rig_.network.restore("node", "io1");
    rig_.forwarders.at("io1")->storage.held = false;
  };
  of.run_until_idle();
  rig_.during_turn = {};
  EXPECT_LE(rig_.clock.now() - before, std::chrono::seconds(8));
  expect_all_written(of);
  EXPECT_EQ(rig_.forwarders.at("io2")->forwarder.open_files(), 0u);
  of.files().close(file);
  EXPECT_EQ(bytes_of_file(path), bytes_);
}

// An old write waits in a forwarder that is cut off when newer bytes are written through another one. A second client
// has the file open there, and hears it all the time.
TEST_F(Loss, AForwarderThatIsCutOffBeginsNothingMore) {
  for (const bool one_way : {false, true}) {
    SCOPED_TRACE(one_way);
    ForwardedClient of = client(OnLoss::next);
    ForwardedClient other(rig_, {"io1", "io2"}, OnLoss::next, TransferRecord::Confirm::written, "other");
    const std::string path = path_at(rig_, of, scratch_, "io1", one_way ? "one" : "both");
    const FileHandle file = of.open(path);
    const FileHandle shared = other.open(path, OpenMode::edit);
    begin_writes(of, file);
    std::vector<std::byte> second(1000, std::byte{2});
    const iovec segment{second.data(), second.size()};
    of.submit(Kind::write, file, 0, {&segment, 1}, 9);  // waits for the first one
    std::vector<std::byte> third(1000, std::byte{3});
    const iovec beside{third.data(), third.size()};
    other.submit(Kind::write, shared, 5000, {&beside, 1}, 1);
    const auto work = [&](int turns) {
      for (int i = 0; i < turns; ++i) {
        of.reap();
        other.reap();
        rig_.turn();
      }
    };
    work(50);
    rig_.during_turn = [&] { other.reap(); };
    rig_.network.mute("node", "io1");
    if (!one_way) rig_.network.mute("io1", "node");
    of.run_until_idle();
    expect_all_written(of);
    EXPECT_EQ(of.results.at(9), 1000);
    EXPECT_EQ(of.run(Kind::write, file, 0, third), 1000);
    rig_.during_turn = {};
    rig_.network.restore("node", "io1");
    rig_.forwarders.at("io1")->storage.held = false;
    work(200);
    EXPECT_EQ(other.results.at(1), 1000);
    EXPECT_EQ(other.run(Kind::sync, shared, 0, {}), 0) << "nothing of its file has failed";
    of.files().close(file);
    other.files().close(shared);
    std::vector<std::byte> expected = bytes_;
    std::copy(third.begin(), third.end(), expected.begin());
    expected.resize(5000);
    expected.insert(expected.end(), third.begin(), third.end());
    EXPECT_EQ(bytes_of_file(path), expected);
  }
}

// The call itself is on its way when the connection breaks. It must not be carried out after the client has gone on.
TEST_F(Loss, ALateCallChangesNothing) {
  ForwardedClient of = client(OnLoss::next);
  const std::string path = path_at(rig_, of, scratch_, "io1");
  rig_.network.delay("node", "io1", std::chrono::seconds(20));
  ASSERT_TRUE(of.files().remove(path).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  const FileHandle file = of.open(path, OpenMode::fresh);
  const Nanoseconds until = rig_.clock.now() + std::chrono::seconds(40);
  while (rig_.clock.now() < until) {
    of.reap();
    rig_.turn();
  }
  EXPECT_TRUE(std::filesystem::exists(path)) << "the first call was carried out at last";
  of.files().close(file);
}

// For five seconds, each connection breaks as soon as a forwarder has opened a file for it: many more than a call
// tries without a pause.
TEST_F(Loss, ConnectionsThatBreakAgainAndAgainAreOutlasted) {
  ForwardedClient of = client(OnLoss::next);
  const std::string path = scratch_ / "a";
  const FileHandle file = of.open(path);
  Nanoseconds until;
  size_t cuts = 0;
  rig_.during_turn = [&] {
    for (const auto& [host, node] : rig_.forwarders) {
      if (rig_.clock.now() >= until || node->forwarder.open_files() == 0) continue;
      rig_.network.cut("node", host);
      ++cuts;
    }
  };
  const auto begin = [&] { until = rig_.clock.now() + std::chrono::seconds(5); };
  begin();
  EXPECT_EQ(of.run(Kind::write, file, 0, bytes_), 4000);
  begin();
  const Result<Opened> other = of.files().open(scratch_ / "b", OpenMode::create, 0);
  EXPECT_TRUE(other.ok()) << other.status().fault().message;
  EXPECT_GT(cuts, 40u);
  begin();
  EXPECT_TRUE(of.files().rename(file, path + ".new", true).ok());
  of.files().close(file);
  if (other.ok()) of.files().close(other.value().file);
  EXPECT_EQ(bytes_of_file(path + ".new"), bytes_);
}

TEST_F(Loss, AForwarderThatComesBackIsUsedAgain) {
  ForwardedClient of(rig_, {"io1"}, OnLoss::next, TransferRecord::Confirm::written, "other");
  const std::string path = scratch_ / "a";
  const FileHandle file = of.open(path);
  begin_writes(of, file);
  rig_.kill("io1");
  rig_.add_forwarder("io1");
  of.run_until_idle();
  expect_all_written(of);
  of.files().close(file);
  EXPECT_EQ(bytes_of_file(path), bytes_);
}

// Its connection ends while nothing is open there: all nodes still use the same forwarder for each path.
TEST_F(Loss, AForwarderThatWasLostWithoutWorkIsUsedAgain) {
  ForwardedClient of = client(OnLoss::next);
  rig_.kill("io2");
  for (int i = 0; i < 50; ++i) {
    of.reap();
    rig_.turn();
  }
  rig_.add_forwarder("io2");
  ForwardedClient other(rig_, {"io1", "io2"}, OnLoss::next, TransferRecord::Confirm::written, "other");
  constexpr size_t kFiles = 20;
  std::vector<FileHandle> open;
  for (size_t i = 0; i < kFiles; ++i) {
    const std::string path = scratch_ / std::to_string(i);
    open.push_back(of.open(path, OpenMode::update));
    open.push_back(other.open(path, OpenMode::update));
  }
  size_t files = 0;
  for (const auto& [host, node] : rig_.forwarders) files += node->forwarder.open_files();
  EXPECT_EQ(files, kFiles) << "each is open at one forwarder, which both share";
  for (size_t i = 0; i < open.size(); ++i) (i % 2 == 0 ? of : other).files().close(open[i]);
}

// The rename is carried out, and its answer is lost.
TEST_F(Loss, ARenameThatWasCarriedOutIsNotMadeTwice) {
  ForwardedClient of = client(OnLoss::next);
  const std::string path = path_at(rig_, of, scratch_, "io1");
  const FileHandle file = of.open(path);
  EXPECT_EQ(of.run(Kind::write, file, 0, bytes_), 4000);
  rig_.during_turn = [&] {
    if (std::filesystem::exists(path + ".new")) {
      rig_.kill("io1");
      rig_.during_turn = {};
    }
  };
  rig_.network.silence("io1", "node");  // answers vanish, too
  rig_.network.restore("io1", "node");
  const Status status = of.files().rename(file, path + ".new", false);
  EXPECT_TRUE(status.ok()) << status.fault().message;
  of.files().close(file);
  EXPECT_EQ(bytes_of_file(path + ".new"), bytes_);
}

TEST_F(Loss, ALockMovesToAnotherForwarder) {
  ForwardedClient of = client(OnLoss::next);
  auto lock = of.files().lock(scratch_ / "l", "me");
  ASSERT_TRUE(lock.ok());
  const std::string path = path_at(rig_, of, scratch_, "io1");
  rig_.kill("io1");
  for (int i = 0; i < 100; ++i) {
    of.reap();
    rig_.turn();
  }
  EXPECT_TRUE(of.files().is_locked(scratch_ / "l"));
  EXPECT_TRUE(lock.value()->held());
  { const auto gone = std::move(lock).value(); }
  EXPECT_FALSE(of.files().is_locked(scratch_ / "l"));
}

TEST_F(Loss, WritesConfirmedAsReceivedAreReportedAsLost) {
  ForwardedClient of = client(OnLoss::next, TransferRecord::Confirm::received);
  const std::string path = path_at(rig_, of, scratch_, "io1");
  const FileHandle file = of.open(path);
  rig_.forwarders.at("io1")->storage.held = true;
  EXPECT_EQ(of.run(Kind::write, file, 0, bytes_), 4000);
  rig_.kill("io1");
  EXPECT_LT(of.run(Kind::sync, file, 0, {}), 0);
  EXPECT_EQ(of.files().rename(file, path + ".new", true).code(), TAILRACE_SERVER_LOST);
  of.files().close(file);
}

// Nobody has these bytes any more. The client's process ends while they wait.
TEST_F(Loss, WhatWasConfirmedAsReceivedIsWrittenAfterItsClientsDeath) {
  ForwardedClient of = client(OnLoss::next, TransferRecord::Confirm::received);
  const std::string path = path_at(rig_, of, scratch_, "io1");
  const FileHandle file = of.open(path);
  ForwarderNode& node = *rig_.forwarders.at("io1");
  node.storage.held = true;
  EXPECT_EQ(of.run(Kind::write, file, 0, bytes_), 4000);
  std::vector<std::byte> second(4000, std::byte{2});
  EXPECT_EQ(of.run(Kind::write, file, 0, second), 4000) << "it waits behind the first one";
  rig_.network.cut("node", "io1");
  node.storage.held = false;
  while (!node.forwarder.held_by_client().empty()) rig_.turn();
  EXPECT_EQ(bytes_of_file(path), second);
  of.files().close(file);
}

TEST_F(Loss, AForwarderThatLeavesAnswersFirst) {
  ForwardedClient of = client(OnLoss::next);
  auto lock = of.files().lock(scratch_ / "l", "me");
  ASSERT_TRUE(lock.ok());
  const std::string path = path_at(rig_, of, scratch_, "io1");
  const FileHandle file = of.open(path);
  begin_writes(of, file);
  ForwarderNode& leaving = *rig_.forwarders.at("io1");
  leaving.forwarder.leave();
  for (int i = 0; i < 50; ++i) {
    of.reap();
    rig_.turn();
  }
  EXPECT_FALSE(leaving.forwarder.has_left()) << "it has not answered yet";
  leaving.storage.held = false;
  of.run_until_idle();
  expect_all_written(of);
  for (int i = 0; i < 200; ++i) {
    of.reap();
    rig_.turn();
  }
  EXPECT_TRUE(leaving.forwarder.has_left());
  EXPECT_EQ(of.run(Kind::write, file, 4000, bytes_), 4000) << "the other one goes on";
  EXPECT_TRUE(of.files().is_locked(scratch_ / "l"));
  of.files().close(file);
}

// A publication comes while a write that was confirmed as received is still being carried out: the file gets its name
// when its bytes are there, or never.
TEST_F(Loss, AFileIsNotPublishedBeforeWhatWasConfirmedAsReceived) {
  for (const bool fails : {false, true}) {
    ForwardedClient of = client(OnLoss::next, TransferRecord::Confirm::received);
    const std::string path = path_at(rig_, of, scratch_, "io1", fails ? "f" : "g");
    const FileHandle file = of.open(path);
    ForwarderNode& slow = *rig_.forwarders.at("io1");
    slow.storage.held = true;
    if (fails) slow.storage.failure = ENOSPC;
    EXPECT_EQ(of.run(Kind::write, file, 0, bytes_), 4000);
    of.storage().submit(FileOperation{.kind = FileOperation::Kind::publish, .file = file, .path = path + ".new"});
    std::optional<FileOperationEnd> end;
    for (int turns = 0; turns < 200 && !end; ++turns) {
      if (turns == 60) slow.storage.held = false;
      if (turns < 60) {
        EXPECT_FALSE(std::filesystem::exists(path + ".new"));
      }
      of.reap();
      rig_.turn();
      end = of.storage().reap_operation();
      EXPECT_FALSE(end && turns < 60);
    }
    ASSERT_TRUE(end);
    EXPECT_EQ(end->status.ok(), !fails);
    EXPECT_EQ(std::filesystem::exists(path + ".new"), !fails);
    slow.storage.failure = 0;
  }
}

// The forwarder tells of the loss when it settles the file, which has moved when the client hears that.
TEST_F(Loss, AWriteConfirmedAsReceivedThatFailsWhileItsForwarderLeavesIsTold) {
  ForwardedClient of = client(OnLoss::next, TransferRecord::Confirm::received);
  const std::string path = path_at(rig_, of, scratch_, "io1");
  const FileHandle file = of.open(path);
  ForwarderNode& leaving = *rig_.forwarders.at("io1");
  leaving.storage.held = true;
  leaving.storage.failure = ENOSPC;
  EXPECT_EQ(of.run(Kind::write, file, 0, bytes_), 4000);
  for (int i = 0; i < 10; ++i) rig_.turn();
  leaving.forwarder.leave();
  int turns = 0;
  rig_.during_turn = [&] {
    if (++turns == 60) leaving.storage.held = false;
  };
  while (turns < 200) {
    of.reap();
    rig_.turn();
  }
  rig_.during_turn = {};
  EXPECT_LT(of.run(Kind::sync, file, 0, {}), 0);
  EXPECT_FALSE(of.files().rename(file, path + ".new", true).ok());
  of.files().close(file);
}

// Transfers of a connection that has broken are still being carried out when the forwarder is asked to leave: another
// forwarder gets the file when they have ended, not before.
TEST_F(Loss, AFileSettlesBeforeItMoves) {
  for (const bool returned : {false, true}) {
    ForwardedClient of = client(OnLoss::next);
    const std::string path = path_at(rig_, of, scratch_, "io1", returned ? "r" : "f");
    const FileHandle file = of.open(path);
    begin_writes(of, file);
    ForwarderNode& leaving = *rig_.forwarders.at("io1");
    rig_.network.cut("node", "io1");
    for (int i = 0; returned && i < 200; ++i) {
      of.reap();
      rig_.turn();
    }
    leaving.forwarder.leave();
    int turns = 0;
    rig_.during_turn = [&] {
      const bool moved = rig_.forwarders.at("io2")->forwarder.open_files() > 0;
      EXPECT_FALSE(leaving.storage.held && moved) << "turn " << turns;
      if (++turns == 60) leaving.storage.held = false;
    };
    of.run_until_idle();
    EXPECT_GE(turns, 60);
    expect_all_written(of);
    EXPECT_EQ(of.run(Kind::write, file, 4000, bytes_), 4000) << "the other one goes on";
    EXPECT_EQ(rig_.forwarders.at("io2")->forwarder.open_files(), 1u);
    of.files().close(file);
    rig_.during_turn = {};
    rig_.kill("io1");
    rig_.add_forwarder("io1");
  }
}

// A call of a connection that has broken is still being carried out when the client comes back, and the forwarder is
// leaving: another one opens the file when that call has ended, not before.
TEST_F(Loss, AnOpeningEndsBeforeAnotherForwarderOpensTheFile) {
  ForwardedClient of = client(OnLoss::next);
  const std::string path = path_at(rig_, of, scratch_, "io1");
  ForwarderNode& leaving = *rig_.forwarders.at("io1");
  leaving.storage.operations_held = true;
  of.storage().submit(FileOperation{.kind = FileOperation::Kind::open, .path = path, .mode = OpenMode::fresh});
  while (leaving.storage.operations() == 0) {
    of.reap();
    rig_.turn();
  }
  leaving.forwarder.leave();
  rig_.network.cut("node", "io1");
  run_for(of, std::chrono::seconds(20));
  EXPECT_EQ(rig_.forwarders.at("io2")->forwarder.open_files(), 0u);
  EXPECT_FALSE(of.storage().reap_operation());
  leaving.storage.release_operations();
  std::optional<FileOperationEnd> end;
  while (!(end = of.storage().reap_operation())) {
    of.reap();
    rig_.turn();
  }
  ASSERT_TRUE(end->status.ok()) << end->status.fault().message;
  EXPECT_EQ(rig_.forwarders.at("io2")->forwarder.open_files(), 1u);
  of.files().close(end->opened.file);
}

// The only forwarder is asked to end, and its supervisor starts it again: several files, a lock, and writes that it
// has not begun.
class OnlyForwarder : public Loss {
 protected:
  OnlyForwarder() { rig_.kill("io2"); }
  ForwardedClient client(TransferRecord::Confirm confirm = TransferRecord::Confirm::written,
                         const std::string& host = "node") {
    return {rig_, {"io1"}, OnLoss::next, confirm, host};
  }
  // Asks the forwarder to end, and has another one take its address `after` it has ended.
  void restart(Nanoseconds after) {
    leaving_ = rig_.forwarders.at("io1").get();
    leaving_->forwarder.leave();
    rig_.during_turn = [this, after, ended = std::optional<Nanoseconds>()]() mutable {
      if (also_) also_();
      if (leaving_ != nullptr && leaving_->forwarder.has_left()) {
        rig_.kill("io1");
        leaving_ = nullptr;
        ended = rig_.clock.now();
      }
      if (ended && rig_.forwarders.empty() && rig_.clock.now() >= *ended + after) rig_.add_forwarder("io1");
    };
  }
  std::string path(int file) const { return scratch_ / ("f" + std::to_string(file)); }

  ForwarderNode* leaving_ = nullptr;
  std::function<void()> also_;
};

TEST_F(OnlyForwarder, EndsAndComesAgainAndNothingIsLost) {
  for (const auto confirm : {TransferRecord::Confirm::written, TransferRecord::Confirm::received}) {
    SCOPED_TRACE(static_cast<int>(confirm));
    ForwardedClient of = client(confirm);
    const auto lock = of.files().lock(scratch_ / "l", "me");
    ASSERT_TRUE(lock.ok());
    std::vector<FileHandle> files;
    for (int i = 0; i < 5; ++i) files.push_back(of.open(path(i)));
    for (const FileHandle file : files) EXPECT_EQ(of.run(Kind::write, file, 0, bytes_), 4000);
    const Nanoseconds before = rig_.clock.now();
    restart(std::chrono::seconds(5));
    for (const FileHandle file : files) EXPECT_EQ(of.run(Kind::write, file, 4000, bytes_), 4000);
    EXPECT_LE(rig_.clock.now() - before, std::chrono::seconds(7)) << "the forwarder must not wait for its clients";
    EXPECT_TRUE(of.files().is_locked(scratch_ / "l"));
    for (const FileHandle file : files) EXPECT_EQ(of.run(Kind::sync, file, 0, {}), 0);
    for (size_t i = 0; i < files.size(); ++i) {
      EXPECT_TRUE(of.files().rename(files[i], path(static_cast<int>(i)) + ".new", true).ok());
      of.files().close(files[i]);
      EXPECT_EQ(bytes_of_file(path(static_cast<int>(i)) + ".new").value().size(), 8000u);
    }
    rig_.during_turn = {};
  }
}

// One client has writes that take longer than the patience of another one, which opens a file: that waits, since the
// forwarder lives, and does not keep it there.
TEST_F(OnlyForwarder, EndsWhenTheSlowestClientHasItsAnswers) {
  ForwardedClient slow = client();
  ForwardedClient other = client(TransferRecord::Confirm::written, "other");
  const FileHandle file = slow.open(path(0));
  begin_writes(slow, file);
  restart(std::chrono::seconds(5));
  const Nanoseconds before = rig_.clock.now();
  bool inside = false;  // it may wait for a forwarder, and the rig comes here again
  also_ = [&] {
    if (std::exchange(inside, true)) return;
    if (rig_.clock.now() - before > std::chrono::seconds(30) && leaving_ != nullptr) leaving_->storage.held = false;
    slow.reap();
    inside = false;
  };
  for (int i = 0; i < 50; ++i) {
    other.reap();  // it hears that the forwarder is leaving
    rig_.turn();
  }
  const FileHandle second = other.open(path(1));
  EXPECT_EQ(other.run(Kind::write, second, 0, bytes_), 4000);
  slow.run_until_idle();
  EXPECT_GE(rig_.clock.now() - before, std::chrono::seconds(35));
  expect_all_written(slow);
  also_ = {};
  slow.files().close(file);
  other.files().close(second);
  EXPECT_EQ(bytes_of_file(path(1)), bytes_);
  rig_.during_turn = {};
}

// Patience is for the first file alone, also if nothing answers at the addresses: the others fail at once, until a
// forwarder is there again.
TEST_F(Loss, OnlyTheFirstFileWaitsForAForwarder) {
  for (const bool silent : {false, true}) {
    SCOPED_TRACE(silent);
    ForwardedClient of = client(OnLoss::next);
    std::vector<FileHandle> files;
    for (int i = 0; i < 20; ++i) files.push_back(of.open(scratch_ / std::to_string(i)));
    for (const std::string host : {"io1", "io2"}) {
      if (silent) rig_.network.silence("node", host);
      if (!silent) rig_.kill(host);
    }
    const Nanoseconds before = rig_.clock.now();
    for (const FileHandle file : files) EXPECT_LT(of.run(Kind::write, file, 0, bytes_), 0);
    const Status opened = of.files().open(scratch_ / "new", OpenMode::create, 0).status();
    EXPECT_EQ(opened.code(), TAILRACE_SERVER_LOST);
    EXPECT_LE(rig_.clock.now() - before, std::chrono::seconds(silent ? 40 : 12));
    const Status renamed = of.files().rename(files[7], scratch_ / "seven", true);
    for (const Status& status : {opened, renamed}) {
      for (const char* part : {"tried for 1", " s: ", "the forwarder io1 is lost: ", "the forwarder io2 is lost: "}) {
        EXPECT_NE(status.fault().message.find(part), std::string::npos) << part << ": " << status.fault().message;
      }
    }
    const std::vector<std::string> said = of.log.complaints();
    const auto complaints = std::count_if(said.begin(), said.end(), [](const std::string& line) {
      return line.starts_with("no forwarder answers, so what needs one fails until one answers: tried for 1");
    });
    EXPECT_EQ(complaints, 1) << of.log.text();
    for (const FileHandle file : files) of.files().close(file);
    for (const std::string host : {"io1", "io2"}) {
      if (silent) rig_.network.restore("node", host);
      if (!silent) rig_.add_forwarder(host);
    }
    const Nanoseconds since = rig_.clock.now();
    while (!of.files().open(scratch_ / "again", OpenMode::create, 0).ok()) {
      rig_.turn();
      ASSERT_LE(rig_.clock.now() - since, std::chrono::seconds(5));
    }
  }
}

TEST_F(Loss, AClientThatDiesFreesWhatItHeld) {
  auto of = std::make_unique<ForwardedClient>(rig_, std::vector<std::string>{"io1"}, OnLoss::next,
                                              TransferRecord::Confirm::written, "dying");
  const FileHandle file = of->open(scratch_ / "a");
  begin_writes(*of, file);
  ForwarderNode& node = *rig_.forwarders.at("io1");
  EXPECT_EQ(node.forwarder.held_by_client().size(), 1u);
  rig_.network.silence("dying", "io1");  // not even the end of its process is seen
  node.storage.held = false;
  const Nanoseconds before = rig_.clock.now();
  while (!node.forwarder.held_by_client().empty() && rig_.clock.now() - before < std::chrono::minutes(2)) rig_.turn();
  EXPECT_TRUE(node.forwarder.held_by_client().empty());
  EXPECT_EQ(node.forwarder.open_files(), 0u);
  rig_.kill("io1");
  rig_.network.cut("dying", "io1");
  of->run_until_idle();
}

// Only the connection breaks, and the forwarder keeps the lock for its old session, which still writes.
TEST_F(Loss, ALockIsTakenAgainWhenTheOldSessionHasWritten) {
  ForwardedClient of = client(OnLoss::next);
  const std::string lock_path = path_at(rig_, of, scratch_, "io1", "lock");
  const FileHandle file = of.open(path_at(rig_, of, scratch_, "io1"));
  const auto lock = of.files().lock(lock_path, "process 1 on node");
  ASSERT_TRUE(lock.ok());
  begin_writes(of, file);
  rig_.network.cut("node", "io1");
  int turns = 0;
  rig_.during_turn = [&] {
    if (++turns == 20) rig_.forwarders.at("io1")->storage.held = false;
  };
  of.run_until_idle();
  run_for(of, std::chrono::seconds(5));  // the lock follows the file
  rig_.during_turn = {};
  EXPECT_GT(turns, 20);
  expect_all_written(of);
  for (const std::string& line : of.log.complaints()) {
    EXPECT_EQ(line.find("nothing keeps other programs away"), std::string::npos) << line;
  }
  ForwardedClient other(rig_, {"io1", "io2"}, OnLoss::next, TransferRecord::Confirm::written, "other");
  EXPECT_EQ(other.files().lock(lock_path, "process 2 on other").status().code(), TAILRACE_CLIENT_IN_USE);
}

// A forwarder is tried again and again; the log says once that it is lost.
TEST_F(Loss, IsLoggedOnce) {
  ForwardedClient of = client(OnLoss::next);
  rig_.kill("io1");
  rig_.kill("io2");
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(of.files().open(scratch_ / std::to_string(i), OpenMode::create, 0).ok());
  }
  const std::vector<std::string> complaints = of.log.complaints();
  const auto losses = std::count_if(complaints.begin(), complaints.end(),
                                    [](const std::string& line) { return line.starts_with("the forwarder "); });
  EXPECT_EQ(losses, 2) << of.log.text();
}

TEST(NoForwarder, IsAClearErrorThatNamesTheAddresses) {
  ForwardRig rig;
  Doorbell doorbell;
  KeptLog log;
  const auto storage = rig.connect(doorbell, log, "node", {"io1:4711", "io2:4711"});
  ASSERT_FALSE(storage.ok());
  EXPECT_EQ(storage.status().code(), TAILRACE_SERVER_LOST);
  const std::string& told = storage.status().fault().message;
  for (const char* reason : {"the forwarder io1:4711 is lost: ", "; the forwarder io2:4711 is lost: "}) {
    EXPECT_NE(told.find(reason), std::string::npos) << told;
  }
}

}  // namespace
}  // namespace tailrace::impl
