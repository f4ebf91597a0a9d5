// The fault storage itself: it does what its plan says, the same for the same seed, and loses nothing else.
#include "testing/fault_storage.hpp"

#include <algorithm>

#include "back_ends.hpp"
#include "storage_driver.hpp"
#include "testing/sim_clock.hpp"

namespace tailrace::impl {
namespace {

using Kind = Transfer::Kind;
constexpr size_t kBytes = 100000;

FaultPlan rough() {
  return {.short_percent = 50,
          .eintr_percent = 20,
          .eagain_percent = 20,
          .delay_reaps = 5,
          .reorder = true,
          .pretend_direct = 0,
          .rules = {}};
}

// Moves all of `bytes` as an engine would: it continues short or interrupted transfers, in adjacent pieces.
void move_all(Storage& storage, Doorbell& doorbell, Kind kind, FileHandle file, std::span<std::byte> bytes) {
  const size_t pieces = storage.capabilities().depth;
  const size_t piece = bytes.size() / pieces;
  std::vector<iovec> left(pieces);
  const auto go_on = [&](size_t i) {
    const auto offset = static_cast<uint64_t>(static_cast<std::byte*>(left[i].iov_base) - bytes.data());
    storage.submit({kind, false, file, offset, std::span(&left[i], 1), i});
  };
  for (size_t i = 0; i < pieces; i++) {
    left[i] = segment_of(i + 1 < pieces ? bytes.subspan(i * piece, piece) : bytes.subspan(i * piece));
    go_on(i);
  }
  for (size_t under_way = pieces; under_way > 0;) {
    const Completion done = wait_for(storage, doorbell, 1).front();
    if (done.result > 0) {
      left[done.tag].iov_base = static_cast<std::byte*>(left[done.tag].iov_base) + done.result;
      left[done.tag].iov_len -= static_cast<size_t>(done.result);
    } else {
      ASSERT_TRUE(done.result == -EINTR || done.result == -EAGAIN) << done.result;
    }
    if (left[done.tag].iov_len > 0) {
      go_on(done.tag);
    } else {
      under_way--;
    }
  }
}

std::vector<FaultEvent> run_from(const std::string& back_end, uint64_t seed) {
  Doorbell doorbell;
  TemporaryDirectory directory;
  Result<std::unique_ptr<Storage>> inner = make_back_end(back_end, doorbell);
  if (!inner.ok()) return {};
  FaultStorage storage(*inner.value(), doorbell, seed, rough());
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(kBytes);
  fill(bytes, random);
  const std::string path = back_end == "memory" ? "file" : directory / "file";
  const FileHandle file = storage.open(path, OpenMode::create, 0).value().file;
  move_all(storage, doorbell, Kind::write, file, bytes);
  std::vector<std::byte> back(kBytes);
  move_all(storage, doorbell, Kind::read, file, back);
  EXPECT_EQ(back, bytes);
  EXPECT_EQ(storage.under_way(), 0);
  storage.close(file);
  return storage.log();
}

TEST(FaultStorage, LosesNothingOverAnyBackEnd) {
  const uint64_t seed = test_seed();
  for (const char* back_end : {"memory", "posix", "uring"}) {
    SCOPED_TRACE(back_end);
    run_from(back_end, seed);
  }
}

TEST(FaultStorage, DoesTheSameForTheSameSeed) {
  const uint64_t seed = test_seed();
  const std::vector<FaultEvent> log = run_from("memory", seed);
  EXPECT_EQ(log, run_from("memory", seed));
  EXPECT_NE(log, run_from("memory", seed + 1));
  const auto was_short = [](const FaultEvent& event) {
    return event.what == FaultEvent::What::begun && event.result > 0 &&
           event.result < static_cast<int64_t>(event.length);
  };
  EXPECT_TRUE(std::any_of(log.begin(), log.end(), was_short));
  for (const int64_t error : {-EINTR, -EAGAIN}) {
    EXPECT_TRUE(std::any_of(log.begin(), log.end(), [&](const FaultEvent& e) { return e.result == error; }));
  }
}

TEST(FaultStorage, ReordersCompletions) {
  Doorbell doorbell;
  MemoryStorage inner(doorbell);
  FaultStorage storage(inner, doorbell, 1, {.reorder = true, .rules = {}});
  const FileHandle file = storage.open("file", OpenMode::create, 0).value().file;
  for (uint64_t tag = 0; tag < 20; tag++) storage.submit({Kind::sync, false, file, 0, {}, tag});
  std::vector<uint64_t> tags;
  for (const Completion& done : wait_for(storage, doorbell, 20)) tags.push_back(done.tag);
  EXPECT_FALSE(std::is_sorted(tags.begin(), tags.end()));
  std::sort(tags.begin(), tags.end());
  for (uint64_t tag = 0; tag < 20; tag++) EXPECT_EQ(tags[tag], tag);
}

TEST(FaultStorage, FailsTheWritesThatItsRulesName) {
  Doorbell doorbell;
  MemoryStorage inner(doorbell);
  const FaultRule once{.on = FaultOn::write, .path_contains = "a", .first = 1, .times = 1, .error = EIO};
  const FaultRule for_ever{
      .on = FaultOn::write, .path_contains = "b", .first = 2, .times = FaultRule::kForever, .error = ENOSPC};
  FaultStorage storage(inner, doorbell, 1, {.rules = {once, for_ever}});
  const FileHandle a = storage.open("a", OpenMode::create, 0).value().file;
  const FileHandle b = storage.open("b", OpenMode::create, 0).value().file;
  std::vector<std::byte> bytes(10, std::byte{1});
  const auto write = [&](FileHandle file) { return run(storage, doorbell, Kind::write, file, 0, bytes); };
  EXPECT_EQ(write(a), 10);
  EXPECT_EQ(write(a), -EIO);
  EXPECT_EQ(write(a), 10);
  EXPECT_EQ(write(b), 10);
  EXPECT_EQ(write(b), 10);
  EXPECT_EQ(write(b), -ENOSPC);
  EXPECT_EQ(write(b), -ENOSPC);
  EXPECT_EQ(run(storage, doorbell, Kind::read, b, 0, bytes), 10);
}

TEST(FaultStorage, TornWriteLeavesAPart) {
  Doorbell doorbell;
  MemoryStorage inner(doorbell);
  const FaultRule rule{.on = FaultOn::write, .path_contains = "", .torn = true};
  FaultStorage storage(inner, doorbell, test_seed(), {.rules = {rule}});
  const FileHandle file = storage.open("file", OpenMode::create, 0).value().file;
  std::vector<std::byte> bytes(1000, std::byte{1});
  EXPECT_EQ(run(storage, doorbell, Kind::write, file, 0, bytes), -EIO);
  ASSERT_NE(inner.contents("file"), nullptr);
  EXPECT_GT(inner.contents("file")->size(), 0);
  EXPECT_LT(inner.contents("file")->size(), 1000);
}

TEST(FaultStorage, FailsWhatIsDoneAtOnce) {
  Doorbell doorbell;
  MemoryStorage inner(doorbell);
  FaultStorage storage(inner, doorbell, 1,
                       {.rules = {{.on = FaultOn::open, .path_contains = "bad", .error = EACCES},
                                  {.on = FaultOn::allocate, .path_contains = "", .error = ENOSPC},
                                  {.on = FaultOn::rename, .path_contains = ".part", .error = EXDEV},
                                  {.on = FaultOn::remove, .path_contains = "", .error = EPERM}}});
  EXPECT_EQ(storage.open("bad", OpenMode::create, 0).status().fault().system_errno, EACCES);
  EXPECT_EQ(inner.contents("bad"), nullptr);
  const FileHandle file = storage.open("a.part", OpenMode::create, 0).value().file;
  EXPECT_EQ(storage.allocate(file, 0, 10).fault().system_errno, ENOSPC);
  EXPECT_TRUE(storage.allocate(file, 0, 10).ok());
  EXPECT_EQ(storage.rename(file, "a", true).fault().system_errno, EXDEV);
  EXPECT_TRUE(storage.rename(file, "a", true).ok());
  EXPECT_EQ(storage.remove("a").fault().system_errno, EPERM);
  EXPECT_TRUE(storage.remove("a").ok());
  std::vector<int64_t> results;
  for (const FaultEvent& event : storage.log()) results.push_back(event.result);
  EXPECT_EQ(results, (std::vector<int64_t>{-EACCES, 0, -ENOSPC, 0, -EXDEV, 0, -EPERM, 0}));
}

TEST(FaultStorage, PretendsDirectTransfersAndCutsThemAtSectors) {
  Doorbell doorbell;
  MemoryStorage inner(doorbell);
  FaultStorage storage(inner, doorbell, test_seed(), {.short_percent = 90, .pretend_direct = 4096, .rules = {}});
  EXPECT_EQ(storage.capabilities().direct_alignment, 4096);
  const FileHandle file = storage.open("file", OpenMode::create, 0).value().file;
  ASSERT_TRUE(storage.direct(file));
  AlignedMemory memory(1 << 16, 4096);
  for (int i = 0; i < 100; i++) {
    const int64_t some = run(storage, doorbell, Kind::write, file, 4096, memory.span(), true);
    EXPECT_GT(some, 0);
    EXPECT_EQ(some % 512, 0);
  }
}

TEST(SimClock, MovesOnlyWhenTold) {
  SimClock clock;
  EXPECT_EQ(clock.now().count(), 0);
  clock.advance(std::chrono::milliseconds(3));
  EXPECT_EQ(clock.now(), std::chrono::milliseconds(3));
}

}  // namespace
}  // namespace tailrace::impl
