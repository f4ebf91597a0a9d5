// Engine: its promises one by one. engine_random_test.cpp tries them all at once.
#include "engine/engine.hpp"

#include <gtest/gtest.h>

#include <string>

#include "engine_rig.hpp"

namespace tailrace::impl {
namespace {

EngineOptions pending(uint32_t most) {
  EngineOptions options;
  options.max_pending = most;
  return options;
}

EngineOptions execution(const Executor::Options& execute) {
  EngineOptions options;
  options.execute = execute;
  return options;
}

TEST(Engine, WritesAndPublishes) {
  EngineRig rig;
  const FileId file = rig.create("f", 0);
  std::string a = "hello ";
  std::string b = "world";
  rig.submit(Operation::write, file, {piece_of(6, b)});
  rig.submit(Operation::write, file, {piece_of(0, a)});
  const uint64_t publish = rig.submit(Operation::publish, file);
  EXPECT_FALSE(rig.engine.idle());
  rig.run_until_idle();
  EXPECT_EQ(rig.ends.all.size(), 3u);
  EXPECT_TRUE(rig.ends.of(publish).ok());
  EXPECT_EQ(rig.ends.order.back(), publish);
  EXPECT_EQ(rig.text("f"), "hello world");
  EXPECT_EQ(rig.text("f.part"), "(none)");
}

TEST(Engine, NothingEndsBeforeProgress) {
  EngineRig rig;
  const FileId file = rig.create("f", 0);
  std::string a = "a";
  rig.submit(Operation::write, file, {piece_of(0, a)});
  rig.submit(Operation::close, file);
  EXPECT_TRUE(rig.ends.all.empty());
  rig.run_until_idle();
}

TEST(Engine, RoomIsABound) {
  EngineRig rig({.engine = pending(3)});
  const FileId file = rig.create("f", 0);
  std::string a = "a";
  for (uint32_t room = 3; room > 0; --room) {
    EXPECT_EQ(rig.engine.room(), room);
    rig.submit(Operation::write, file, {piece_of(room, a)});
  }
  EXPECT_EQ(rig.engine.room(), 0u);
  rig.run_until_idle();
  EXPECT_EQ(rig.engine.room(), 3u);
  rig.submit(Operation::close, file);
  rig.run_until_idle();
}

TEST(EngineDeathTest, SubmittingWithoutRoomIsADefect) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        EngineRig rig({.engine = pending(1)});
        const FileId file = rig.create("f", 0);
        std::string a = "a";
        rig.submit(Operation::write, file, {piece_of(0, a)});
        rig.submit(Operation::write, file, {piece_of(0, a)});
      },
      "REQUIRE");
}

TEST(Engine, OverlappingWritesTakeEffectInOrder) {
  EngineRig rig({.plan = {.delay_reaps = 5, .reorder = true}});
  const FileId file = rig.create("f", 0);
  std::string texts[] = {"aaaaaaaa", "bbbb", "cc", "d"};
  for (size_t i = 0; i < 4; ++i) rig.submit(Operation::write, file, {piece_of(i, texts[i])});
  std::string read = "........";
  rig.submit(Operation::read, file, {piece_of(0, read)});
  std::string later = "ZZZZZZZZ";
  rig.submit(Operation::write, file, {piece_of(0, later)});
  rig.submit(Operation::publish, file);
  rig.run_until_idle();
  EXPECT_EQ(read, "abcdbaaa");
  EXPECT_EQ(rig.text("f"), "ZZZZZZZZ");
}

TEST(Engine, AFailedMergedAccessFailsExactlyTheRequestsItBelongsTo) {
  EngineRig rig;
  const FileId file = rig.create("f", 40);
  rig.picky.spoil("f.part", {15, 1});
  std::string texts[] = {"aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc", "dddddddddd"};
  std::vector<uint64_t> tokens;
  for (size_t i = 0; i < 4; ++i) tokens.push_back(rig.submit(Operation::write, file, {piece_of(10 * i, texts[i])}));
  rig.run_until_idle();
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(rig.ends.of(tokens[i]).ok(), i != 1) << i;
  const Fault& fault = rig.ends.of(tokens[1]).fault();
  EXPECT_EQ(fault.operation, "write");
  EXPECT_EQ(fault.file, "f.part");
  EXPECT_EQ(fault.system_errno, EIO);
  const uint64_t publish = rig.submit(Operation::publish, file);
  rig.run_until_idle();
  EXPECT_EQ(rig.ends.of(publish).code(), TAILRACE_NOT_PUBLISHED);
  EXPECT_EQ(rig.ends.of(publish).fault().operation, "publish");
  EXPECT_EQ(rig.ends.of(publish).fault().system_errno, EIO);
  EXPECT_EQ(rig.text("f"), "(none)");
  EXPECT_EQ(rig.text("f.part").substr(0, 10), "aaaaaaaaaa");
}

// Whatever fails, a fence after it fails too, close and remove excepted; another file goes on.
TEST(Engine, AFailureEndsAllThatDependsOnTheWholeFile) {
  EngineRig rig({.plan = {.rules = {{.on = FaultOn::write, .path_contains = "bad", .error = ENOSPC}}}});
  const FileId bad = rig.create("bad", 10);
  const FileId good = rig.create("good", 10);
  std::string a = "aaaaa";
  std::string head = "h";
  const uint64_t write = rig.submit(Operation::write, bad, {piece_of(0, a)});
  const uint64_t sync = rig.submit(Operation::sync, bad);
  const uint64_t fence = rig.submit(Operation::write, bad, {piece_of(5, head)}, true);
  const uint64_t publish = rig.submit(Operation::publish, bad);
  rig.submit(Operation::write, good, {piece_of(0, a)});
  const uint64_t other = rig.submit(Operation::publish, good);
  rig.run_until_idle();
  EXPECT_EQ(rig.ends.of(write).fault().system_errno, ENOSPC);
  for (const uint64_t token : {sync, fence, publish}) {
    EXPECT_EQ(rig.ends.of(token).code(), TAILRACE_NOT_PUBLISHED);
    EXPECT_EQ(rig.ends.of(token).fault().system_errno, ENOSPC);
  }
  EXPECT_TRUE(rig.ends.of(other).ok());
  EXPECT_EQ(rig.text("bad.part"), std::string(10, '\0'));
  EXPECT_EQ(rig.text("bad"), "(none)");
}

TEST(Engine, AFailedSyncStopsThePublication) {
  EngineRig rig({.plan = {.rules = {{.on = FaultOn::sync, .error = EIO}}}});
  const FileId file = rig.create("f", 10);
  const uint64_t sync = rig.submit(Operation::sync, file);
  const uint64_t publish = rig.submit(Operation::publish, file);
  rig.run_until_idle();
  EXPECT_EQ(rig.ends.of(sync).fault().operation, "sync");
  EXPECT_EQ(rig.ends.of(publish).code(), TAILRACE_NOT_PUBLISHED);
}

TEST(Engine, AFailedRenameIsTheEndOfThePublish) {
  EngineRig rig({.plan = {.rules = {{.on = FaultOn::rename, .error = EACCES}}}});
  const FileId file = rig.create("f", 10);
  const uint64_t publish = rig.submit(Operation::publish, file);
  rig.run_until_idle();
  EXPECT_EQ(rig.ends.of(publish).fault().operation, "rename");
  EXPECT_EQ(rig.ends.of(publish).fault().system_errno, EACCES);
  EXPECT_EQ(rig.text("f.part"), std::string(10, '\0'));
}

TEST(Engine, CloseAndRemoveWorkAfterAFailure) {
  EngineRig rig({.plan = {.rules = {{.on = FaultOn::write, .times = FaultRule::kForever}}}});
  const FileId kept = rig.create("kept", 4);
  const FileId removed = rig.create("removed", 4);
  std::string a = "aaaa";
  rig.submit(Operation::write, kept, {piece_of(0, a)});
  rig.submit(Operation::write, removed, {piece_of(0, a)});
  const uint64_t close = rig.submit(Operation::close, kept);
  const uint64_t remove = rig.submit(Operation::remove, removed);
  rig.run_until_idle();
  EXPECT_TRUE(rig.ends.of(close).ok());
  EXPECT_TRUE(rig.ends.of(remove).ok());
  EXPECT_EQ(rig.text("kept.part").size(), 4u);
  EXPECT_EQ(rig.text("removed.part"), "(none)");
}

TEST(Engine, AReadThatWaitedForAFailedWriteFails) {
  EngineRig rig({.plan = {.rules = {{.on = FaultOn::write}}}});
  const FileId file = rig.create("f", 10);
  std::string a = "aaaaa";
  std::string over = ".....";
  std::string apart = "..";
  rig.submit(Operation::write, file, {piece_of(0, a)});
  const uint64_t read = rig.submit(Operation::read, file, {piece_of(2, over)});
  const uint64_t elsewhere = rig.submit(Operation::read, file, {piece_of(8, apart)});
  rig.submit(Operation::close, file);
  rig.run_until_idle();
  EXPECT_EQ(rig.ends.of(read).fault().system_errno, EIO);
  EXPECT_TRUE(rig.ends.of(elsewhere).ok());
}

TEST(Engine, AReadPastTheEndSaysSo) {
  EngineRig rig;
  const FileId file = rig.create("f", 10);
  std::string text(20, '.');
  const uint64_t read = rig.submit(Operation::read, file, {piece_of(0, text)});
  rig.submit(Operation::close, file);
  rig.run_until_idle();
  ASSERT_FALSE(rig.ends.of(read).ok());
  EXPECT_NE(rig.ends.of(read).fault().message.find("ends before byte"), std::string::npos);
}

TEST(Engine, TransientFaultsAreContinued) {
  EngineRig rig(
      {.seed = 7,
       .plan = {.short_percent = 50, .eintr_percent = 30, .eagain_percent = 30, .delay_reaps = 3, .reorder = true},
       .engine = execution({.largest_transfer = 512})});
  const FileId file = rig.create("f", 0);
  std::string text;
  for (int i = 0; i < 20000; ++i) text.push_back(static_cast<char>('a' + i % 23));
  rig.submit(Operation::write, file, {piece_of(0, text)});
  rig.submit(Operation::sync, file);
  std::string read(text.size(), '.');
  rig.submit(Operation::read, file, {piece_of(0, read)});
  rig.submit(Operation::publish, file);
  rig.run_until_idle();
  for (const auto& [token, status] : rig.ends.all) EXPECT_TRUE(status.ok()) << token;
  EXPECT_EQ(read, text);
  EXPECT_EQ(rig.text("f"), text);
}

TEST(Engine, PatienceEnds) {
  EngineRig rig({.plan = {.rules = {{.on = FaultOn::write, .times = FaultRule::kForever, .error = EAGAIN}}},
                 .engine = execution({.patience = 20})});
  const FileId file = rig.create("f", 4);
  std::string a = "aaaa";
  const uint64_t write = rig.submit(Operation::write, file, {piece_of(0, a)});
  rig.submit(Operation::close, file);
  rig.run_until_idle();
  EXPECT_EQ(rig.ends.of(write).fault().system_errno, EAGAIN);
}

TEST(Engine, ASinkMaySubmitMore) {
  EngineRig rig({.engine = pending(4)});
  const FileId file = rig.create("f", 0);
  std::string a = "a";
  uint64_t written = 0;
  rig.ends.then = [&](const Request& request, const Status&) {
    if (request.operation == Operation::write && ++written < 10) {
      rig.submit(Operation::write, file, {piece_of(written, a)});
    } else if (written == 10 && request.operation == Operation::write) {
      rig.submit(Operation::publish, file);
    }
  };
  rig.submit(Operation::write, file, {piece_of(0, a)});
  rig.run_until_idle();
  EXPECT_EQ(rig.text("f"), "aaaaaaaaaa");
}

TEST(Engine, BusyIsTheTimeWithTransfersUnderWay) {
  EngineRig rig({.plan = {.delay_reaps = 90}});
  const FileId file = rig.create("f", 0);
  rig.clock.advance(Nanoseconds(100));
  std::string a = "a";
  rig.submit(Operation::write, file, {piece_of(0, a)});
  rig.engine.progress();
  int rounds = 0;
  while (!rig.engine.idle()) {
    rig.clock.advance(Nanoseconds(10));
    rig.engine.progress();
    ++rounds;
  }
  EXPECT_EQ(rig.engine.counts().busy, Nanoseconds(10 * rounds));
  rig.clock.advance(Nanoseconds(1000));
  rig.submit(Operation::close, file);
  rig.run_until_idle();
  EXPECT_EQ(rig.engine.counts().busy, Nanoseconds(10 * rounds));
}

TEST(Engine, OpenSaysWhyNot) {
  EngineRig rig({.plan = {.rules = {{.on = FaultOn::open, .error = EROFS}, {.on = FaultOn::allocate}}}});
  EXPECT_EQ(rig.engine.open("f", OpenMode::create, 0, "g").status().fault().system_errno, EROFS);
  const Result<FileId> file = rig.engine.open("f", OpenMode::create, 0, "g");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(rig.engine.path(file.value()), "f");
  EXPECT_EQ(rig.engine.allocate(file.value(), {0, 10}).fault().operation, "allocate");
  rig.submit(Operation::close, file.value());
  rig.run_until_idle();
}

}  // namespace
}  // namespace tailrace::impl
