// Engine: its promises one by one. engine_random_test.cpp tests them all together.
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

TEST(Engine, APublishThatMayNotReplaceFailsWhereTheNameIsTaken) {
  EngineRig rig;
  std::string old = "old";
  const FileId first = rig.create("f", 0);
  rig.submit(Operation::write, first, {piece_of(0, old)});
  rig.submit(Operation::publish, first);
  rig.run_until_idle();

  std::string fresh = "new";
  const FileId second = rig.create("f", 0);
  rig.submit(Operation::write, second, {piece_of(0, fresh)});
  Request publish;
  publish.operation = Operation::publish;
  publish.file = second;
  publish.replace = false;
  const uint64_t token = rig.submit(std::move(publish));
  rig.run_until_idle();
  EXPECT_EQ(rig.ends.of(token).fault().system_errno, EEXIST);
  EXPECT_EQ(rig.text("f"), "old");
  EXPECT_EQ(rig.text("f.part"), "new");
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

TEST(Engine, RoomIsMadeOnceForALargeWriteThroughThePageCache) {
  Executor::Options execute;
  execute.largest_cached = 50;
  execute.room_from = 200;
  EngineRig rig({.engine = execution(execute)});
  const FileId file = rig.create("f", 0);
  std::string large(230, 'l');
  std::string small(199, 's');
  rig.submit(Operation::write, file, {piece_of(10, large)});
  rig.submit(Operation::write, file, {piece_of(1000, small)});
  rig.run_until_idle();
  std::string back(230, ' ');
  rig.submit(Operation::read, file, {piece_of(10, back)});
  rig.run_until_idle();
  EXPECT_EQ(back, large);
  ASSERT_EQ(rig.picky.rooms().size(), 1u);
  EXPECT_EQ(rig.picky.rooms()[0].offset, 10u);
  EXPECT_EQ(rig.picky.rooms()[0].length, 230u);
  rig.submit(Operation::close, file);
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

// Columns of three clients: one access for all of them, of which two pieces are refused.
TEST(Engine, AFailureInAMergedAccessNamesThePieceOfEachRequest) {
  EngineRig rig;
  const FileId file = rig.create("f", 90);
  rig.picky.spoil("f.part", {40, 1});  // of the second client, its second row
  rig.picky.spoil("f.part", {89, 1});  // of the third client, its last byte
  std::string texts[] = {"aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"};
  std::vector<uint64_t> tokens;
  for (uint32_t client = 0; client < 3; ++client) {
    std::vector<Piece> rows;
    // The rows are in the wrong order; they are counted as they are in the file.
    for (const uint64_t row : {2, 0, 1}) rows.push_back(piece_of(30 * row + 10 * client, texts[client]));
    tokens.push_back(rig.submit(Operation::write, file, rows, false, client));
  }
  rig.run_until_idle();
  EXPECT_EQ(rig.engine.counts().accesses, 1u);
  EXPECT_TRUE(rig.ends.of(tokens[0]).ok());
  const std::string cause = "write 'f.part': Input/output error: ";
  EXPECT_EQ(rig.ends.of(tokens[1]).fault().message, cause + "piece 2 of 3, 10 bytes at offset 40");
  EXPECT_EQ(rig.ends.of(tokens[2]).fault().message, cause + "piece 3 of 3, 10 bytes at offset 80");
  for (const uint64_t at : {0, 10, 20, 30, 50, 60, 70}) {
    EXPECT_EQ(rig.text("f.part").substr(at, 10), texts[at / 10 % 3]) << at;
  }
  rig.submit(Operation::close, file);
  rig.run_until_idle();
}

TEST(Engine, AFailedReadNamesThePieceToo) {
  EngineRigOptions options;
  options.engine.merge.sieve = 100;
  EngineRig rig(options);
  const FileId file = rig.create("f", 100);
  std::string within(10, '.');
  std::string beyond(20, '.');
  const uint64_t read = rig.submit(Operation::read, file, {piece_of(90, beyond), piece_of(75, within)});
  rig.submit(Operation::close, file);
  rig.run_until_idle();
  EXPECT_EQ(rig.ends.of(read).fault().message,
            "read 'f.part': the file ends before byte 110: piece 2 of 2, 20 bytes at offset 90");
}

// It is useless to ask the system again: a list of many such pieces would take seconds to fail.
TEST(Engine, AReadBeyondTheEndOfAFileIsTriedOnce) {
  EngineRig rig;
  const FileId file = rig.create("f", 100);
  std::string beyond(20, '.');
  const uint64_t read = rig.submit(Operation::read, file, {piece_of(100, beyond)});
  rig.submit(Operation::close, file);
  rig.run_until_idle();
  EXPECT_EQ(rig.ends.of(read).fault().message, "read 'f.part': the file ends before byte 120");
  EXPECT_EQ(rig.engine.counts().transfers.transfers, 1u);
}

// For a client, the file ends where its own writes end, even while they wait: the bytes before them are a hole.
TEST(Engine, AWriteThatWaitsMakesAHoleBeforeIt) {
  EngineRigOptions options;
  options.engine.gather.delay = std::chrono::seconds(1);
  options.engine.merge.sieve = 100;
  EngineRig rig(options);
  const FileId file = rig.create("f", 100);
  std::string written = "written";
  std::string own(60, '.');
  std::string others(60, '.');
  const uint64_t write = rig.submit(Operation::write, file, {piece_of(200, written)}, false, 1);
  const uint64_t read = rig.submit(Operation::read, file, {piece_of(90, own)}, false, 1);
  const uint64_t other = rig.submit(Operation::read, file, {piece_of(90, others)}, false, 2);
  rig.engine.progress();
  ASSERT_TRUE(rig.ends.has(read) && rig.ends.has(other));
  EXPECT_FALSE(rig.ends.has(write));
  EXPECT_TRUE(rig.ends.of(read).ok());
  EXPECT_EQ(own, std::string(60, '\0'));
  EXPECT_EQ(rig.ends.of(other).fault().message, "read 'f.part': the file ends before byte 150");
  rig.submit(Operation::publish, file);
  rig.run_until_idle();
}

// After any failure a fence fails too, except close and remove; other files continue.
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
  const uint64_t read = rig.submit(Operation::read, file, {piece_of(2, over)}, false, 1);  // of another client
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

TEST(Engine, OverwrittenBytesAreNeverWritten) {
  EngineRig rig({.plan = {.delay_reaps = 5, .reorder = true}});
  const FileId file = rig.create("f", 0);
  std::string texts[] = {"aaaaaaaa", "bbbb", "cccccccc"};
  for (size_t i = 0; i < 3; ++i) rig.submit(Operation::write, file, {piece_of(4 * i, texts[i])});
  const uint64_t publish = rig.submit(Operation::publish, file);
  rig.run_until_idle();
  EXPECT_TRUE(rig.ends.of(publish).ok());
  EXPECT_EQ(rig.text("f"), "aaaabbbbcccccccc");
  EXPECT_EQ(rig.engine.counts().overwritten, 4u);
  EXPECT_EQ(rig.engine.counts().accesses, 1u);
  EXPECT_EQ(rig.engine.counts().merged, 3u);
}

TEST(Engine, AReadBehindWritesNeedsNoStorage) {
  EngineRig rig({.plan = {.delay_reaps = 90}});
  const FileId file = rig.create("f", 0);
  std::string a = "hello ";
  std::string b = "world";
  rig.submit(Operation::write, file, {piece_of(6, b)});
  rig.submit(Operation::write, file, {piece_of(0, a)});
  rig.engine.progress();
  std::string read(11, '.');
  const uint64_t token = rig.submit(Operation::read, file, {piece_of(0, read)});
  EXPECT_FALSE(rig.ends.has(token));
  rig.engine.progress();
  EXPECT_TRUE(rig.ends.of(token).ok());
  EXPECT_EQ(rig.ends.all.size(), 1u);
  EXPECT_EQ(read, "hello world");
  EXPECT_EQ(rig.engine.counts().stolen, 11u);
  EXPECT_EQ(rig.engine.counts().transfers.transfers, 1u);
  rig.submit(Operation::close, file);
  rig.run_until_idle();
}

// A read that must wait for another client's bytes still gets its own from memory.
TEST(Engine, AReadIsServedInPart) {
  EngineRig rig({.plan = {.delay_reaps = 5}});
  const FileId file = rig.create("f", 12);
  std::string own = "1111";
  std::string other = "2222";
  rig.submit(Operation::write, file, {piece_of(0, own)}, false, 1);
  rig.submit(Operation::write, file, {piece_of(4, other)}, false, 2);
  std::string read(12, '.');
  rig.submit(Operation::read, file, {piece_of(0, read)}, false, 1);
  rig.run_until_idle();
  EXPECT_EQ(read, std::string("11112222") + std::string(4, '\0'));
  EXPECT_EQ(rig.engine.counts().stolen, 4u);
  rig.submit(Operation::close, file);
  rig.run_until_idle();
}

TEST(Engine, AFailureOfTheLaterWriteIsTheEndOfBoth) {
  EngineRig rig;
  const FileId file = rig.create("f", 40);
  rig.picky.spoil("f.part", {15, 1});
  std::string a(10, 'a');
  std::string b(10, 'b');
  const uint64_t apart = rig.submit(Operation::write, file, {piece_of(30, a)});
  const uint64_t earlier = rig.submit(Operation::write, file, {piece_of(4, a)});
  const uint64_t later = rig.submit(Operation::write, file, {piece_of(10, b)});
  const uint64_t publish = rig.submit(Operation::publish, file);
  rig.run_until_idle();
  EXPECT_TRUE(rig.ends.of(apart).ok());
  EXPECT_EQ(rig.ends.of(later).fault().system_errno, EIO);
  EXPECT_EQ(rig.ends.of(earlier).fault().system_errno, EIO);
  EXPECT_NE(rig.ends.of(earlier).fault().message.find("a later write"), std::string::npos);
  EXPECT_EQ(rig.ends.of(publish).code(), TAILRACE_NOT_PUBLISHED);
}

// Rows of a matrix, one column of each row from each of 64 clients, in any order.
TEST(Engine, SmallWritesOfManyClientsBecomeFewLargeOnes) {
  constexpr uint64_t kPiece = 512;
  constexpr uint64_t kPieces = 4096;
  EngineRig rig({.plan = {.delay_reaps = 3}});
  const FileId file = rig.create("f", 0);
  std::string bytes(kPiece * kPieces, '.');
  for (uint64_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i / 7);
  std::string copy = bytes + bytes;  // so that no two pieces lie side by side in memory
  for (uint64_t i = 0; i < kPieces; ++i) {
    const uint64_t piece = i * 1201 % kPieces;
    std::byte* const memory = reinterpret_cast<std::byte*>(copy.data()) + piece * kPiece + (piece % 2) * bytes.size();
    rig.submit(Operation::write, file, {{{piece * kPiece, kPiece}, memory}}, false,
               static_cast<uint32_t>(piece % 64));
  }
  rig.run_until_idle();
  // A transfer has as many segments as the storage takes.
  EXPECT_EQ(rig.engine.counts().transfers.transfers, kPieces / 64);
  EXPECT_EQ(rig.engine.sizes(file).before.count(), kPieces);
  EXPECT_EQ(rig.engine.sizes(file).before.most(), kPiece);
  EXPECT_EQ(rig.engine.sizes(file).after.most(), kPiece * 64);
  rig.submit(Operation::publish, file);
  rig.run_until_idle();
  EXPECT_TRUE(rig.text("f") == bytes);
}

EngineRigOptions sieving() {
  EngineRigOptions options;
  options.engine.merge.sieve = 4;
  return options;
}

// Reads that lie near one another become one; the bytes between them go nowhere.
TEST(Engine, ReadsThatLieNearOneAnotherAreOne) {
  EngineRig rig(sieving());
  const FileId file = rig.create("f", 0);
  std::string all = "abcdefghijklmnopqrstuvwxyz";
  rig.submit(Operation::write, file, {piece_of(0, all)});
  rig.run_until_idle();
  const uint64_t before = rig.engine.counts().transfers.transfers;
  std::string memory(20, '.');
  std::string other = "....";
  const auto at = [&memory](size_t offset) { return reinterpret_cast<std::byte*>(memory.data()) + offset; };
  rig.submit(Operation::read, file, {{{0, 4}, at(1)}, {{8, 4}, at(8)}});
  rig.submit(Operation::read, file, {piece_of(15, other)}, false, 1);
  rig.run_until_idle();
  EXPECT_EQ(memory, ".abcd...ijkl........");
  EXPECT_EQ(other, "pqrs");
  EXPECT_EQ(rig.engine.counts().transfers.transfers, before + 1);
  EXPECT_EQ(rig.engine.counts().sieved, 7u);
}

// A hole that cannot be read fails no request, and a file that ends in a hole does not fail the bytes before it.
TEST(Engine, AHoleThatCannotBeReadFailsNobody) {
  EngineRig rig(sieving());
  const FileId file = rig.create("f", 40);
  rig.picky.spoil("f.part", {5, 2});
  std::string a = "....";
  std::string b = "....";
  const uint64_t first = rig.submit(Operation::read, file, {piece_of(0, a)});
  const uint64_t second = rig.submit(Operation::read, file, {piece_of(8, b)}, false, 1);
  rig.run_until_idle();
  EXPECT_TRUE(rig.ends.of(first).ok());
  EXPECT_TRUE(rig.ends.of(second).ok());
  EXPECT_EQ(a + b, std::string(8, '\0'));
  const uint64_t inside = rig.submit(Operation::read, file, {piece_of(34, a)});
  const uint64_t beyond = rig.submit(Operation::read, file, {piece_of(42, b)});
  rig.run_until_idle();
  EXPECT_TRUE(rig.ends.of(inside).ok());
  EXPECT_NE(rig.ends.of(beyond).fault().message.find("ends before"), std::string::npos);
}

// A million extents in one request, in any order, with holes between some.
TEST(Engine, AMillionExtents) {
  constexpr uint64_t kExtents = 1'000'000;
  EngineRig rig;
  const FileId file = rig.create("f", 0);
  std::string memory(3 * kExtents, 'x');
  for (uint64_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>('a' + i % 23);
  std::vector<Piece> pieces;
  for (uint64_t i = 0; i < kExtents; ++i) {
    const uint64_t at = i * 7919 % kExtents;
    const uint64_t hole = at / 1000 % 10 == 9 ? 1 : 0;  // after the extents of every tenth thousand
    pieces.push_back({{3 * at, 3 - hole}, reinterpret_cast<std::byte*>(memory.data()) + 3 * at});
  }
  rig.submit(Operation::write, file, std::move(pieces));
  rig.submit(Operation::publish, file);
  rig.run_until_idle();
  std::string expected = memory;
  for (uint64_t at = 0; at < kExtents; ++at) {
    if (at / 1000 % 10 == 9) expected[3 * at + 2] = '\0';
  }
  expected.resize(expected.size() - 1);  // the last has a hole behind it
  EXPECT_TRUE(rig.text("f") == expected);
}

// Requests for a file that cannot be opened fail for that reason, and its close succeeds.
TEST(Engine, OpenSaysWhyNot) {
  EngineRig rig({.plan = {.rules = {{.on = FaultOn::open, .error = EROFS}, {.on = FaultOn::allocate}}}});
  std::string memory = "bytes";
  const FileId refused = rig.engine.open("f", OpenMode::create, 0, "g");
  EXPECT_FALSE(rig.engine.idle());
  const uint64_t write = rig.submit(Operation::write, refused, {piece_of(0, memory)});
  const uint64_t publish = rig.submit(Operation::publish, refused);
  rig.run_until_idle();
  for (const uint64_t end : {write, publish}) EXPECT_EQ(rig.ends.of(end).fault().system_errno, EROFS);
  const FileId other = rig.engine.open("f", OpenMode::create, 0, "g");
  const uint64_t early = rig.submit(Operation::write, other, {piece_of(0, memory)});
  EXPECT_FALSE(rig.engine.is_open(other));
  rig.run_until_idle();
  EXPECT_TRUE(rig.ends.of(early).ok());
  EXPECT_EQ(rig.engine.path(other), "f");
  Status allocated;
  rig.engine.carry_out(other, {.kind = FileOperation::Kind::allocate, .size = 10}, 0,
                       [&allocated](const FileOperationEnd& end) { allocated = end.status; });
  rig.run_until_idle();
  EXPECT_EQ(allocated.fault().operation, "allocate");
  const uint64_t closed = rig.submit(Operation::close, other);
  rig.run_until_idle();
  EXPECT_TRUE(rig.ends.of(closed).ok());
}

// A write for which space cannot be reserved is not begun.
TEST(Engine, ReservesSpaceBeforeLargeWrites) {
  EngineRig rig({.plan = {.rules = {{.on = FaultOn::allocate, .first = 1}}}});
  std::string memory(100'000, 'x');
  const FileId file = rig.create("f", 0);
  const auto write = [&](uint64_t offset, uint64_t length) {
    Request request;
    request.file = file;
    request.reserve = true;
    request.pieces = {{{offset, length}, reinterpret_cast<std::byte*>(memory.data())}};
    return rig.submit(std::move(request));
  };
  const uint64_t small = write(300'000, 10);
  const uint64_t reserved = write(0, 100'000);
  const uint64_t refused = write(100'000, 100'000);
  rig.run_until_idle();
  EXPECT_TRUE(rig.ends.of(small).ok());
  EXPECT_TRUE(rig.ends.of(reserved).ok());
  EXPECT_EQ(rig.ends.of(refused).fault().operation, "allocate");
  rig.submit(Operation::close, file);
  rig.run_until_idle();
}

}  // namespace
}  // namespace tailrace::impl
