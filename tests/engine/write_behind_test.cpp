// Bytes in the page cache that go to the device before anybody asks: which, when, and what waits for it.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/execute/write_behind.hpp"
#include "engine_rig.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

struct Behind : ::testing::Test {
  using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;  // offset and length

  // Returns all operations that can begin now.
  Ranges begun(bool computing = true) {
    Ranges all;
    while (const auto next = behind.next(now, computing)) all.emplace_back(next->extent.offset, next->extent.length);
    return all;
  }
  void note(FileHandle file, const Extent& written) { behind.note(file, written, now - WriteBehind::kAge); }

  WriteBehind behind;
  const Nanoseconds now = std::chrono::hours(1);
};

TEST_F(Behind, LeavesALittleToTheSystem) {
  note(1, {0, WriteBehind::kFrom - 1});
  EXPECT_TRUE(begun().empty());
  note(1, {WriteBehind::kFrom - 1, 1});
  EXPECT_EQ(begun(), (Ranges{{0, WriteBehind::kFrom}}));
}

TEST_F(Behind, HasOneOperationOnAFileAtATime) {
  note(1, {0, 5 * kMiB});
  note(2, {0, 2 * kMiB});
  EXPECT_EQ(begun().size(), 2u);
  note(1, {5 * kMiB, kMiB / 2});
  EXPECT_TRUE(begun().empty());
  behind.ended(1);
  EXPECT_EQ(begun(), (Ranges{{2 * kMiB, 2 * kMiB}}));
  behind.ended(1);
  EXPECT_EQ(begun(), (Ranges{{4 * kMiB, 3 * kMiB / 2}}));
  behind.ended(1);
  EXPECT_TRUE(begun().empty());
}

// Files of an iteration are closed, and perhaps removed, before the program computes again.
TEST_F(Behind, WaitsForComputingFirst) {
  note(1, {0, 3 * kMiB});
  note(2, {0, kMiB});
  EXPECT_TRUE(begun(false).empty());
  EXPECT_EQ(begun(true).size(), 2u);
  note(3, {0, kMiB});
  behind.ended(1);
  EXPECT_EQ(begun(false), (Ranges{{2 * kMiB, kMiB}})) << "the first file goes on";
  behind.ended(2);
  EXPECT_EQ(begun(true).size(), 1u);
}

TEST_F(Behind, HasFewOperationsAtATime) {
  for (FileHandle file = 1; file <= 5; ++file) note(file, {0, kMiB});
  EXPECT_EQ(begun().size(), WriteBehind::kAtOnce);
  behind.ended(5);
  EXPECT_EQ(begun().size(), 1u);
}

TEST_F(Behind, LeavesYoungFilesAlone) {
  behind.note(1, {0, kMiB}, now - WriteBehind::kAge + Nanoseconds(1));
  EXPECT_TRUE(begun().empty());
  behind.note(2, {0, kMiB}, now - WriteBehind::kAge);
  behind.note(2, {kMiB, kMiB}, now);
  EXPECT_EQ(begun(), (Ranges{{0, 2 * kMiB}}));
}

TEST_F(Behind, ForgetsWhatLiesFarFromTheRest) {
  note(1, {0, kMiB / 2});
  note(1, {uint64_t{1} << 40, kMiB});
  EXPECT_EQ(begun(), (Ranges{{uint64_t{1} << 40, kMiB}}));
  behind.ended(1);
  note(1, {0, kMiB});
  note(1, {uint64_t{1} << 40, 1});
  EXPECT_TRUE(begun().empty());
  note(1, {uint64_t{1} << 40, kMiB});
  EXPECT_EQ(begun(), (Ranges{{uint64_t{1} << 40, kMiB}}));
}

TEST_F(Behind, ClosesAFileWhenItsOperationHasEnded) {
  int closed = 0;
  behind.forget(1, [&] { ++closed; });
  EXPECT_EQ(closed, 1) << "nothing was written";
  note(1, {0, 5 * kMiB});
  ASSERT_EQ(begun().size(), 1u);
  behind.forget(1, [&] { ++closed; });
  EXPECT_EQ(closed, 1);
  behind.ended(1);
  EXPECT_EQ(closed, 2);
  EXPECT_TRUE(begun().empty()) << "the rest is the system's";
  note(1, {0, kMiB});
  EXPECT_EQ(begun().size(), 1u) << "another file of the same handle";
}

TEST_F(Behind, BeginsOnlyWhatWasWritten) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 dice(seed);
  std::vector<std::pair<uint64_t, uint64_t>> written;  // of each file: the least and the largest byte since its open
  written.assign(3, {UINT64_MAX, 0});
  std::vector<bool> busy(3, false);
  for (int step = 0; step < 20000; ++step) {
    const auto file = static_cast<FileHandle>(dice() % 3);
    const Extent extent{dice() % (64 * kMiB), 1 + dice() % (3 * kMiB)};
    if (dice() % 50 == 0 && !busy[file]) {
      behind.forget(file, [&] { written[file] = {UINT64_MAX, 0}; });
    } else if (busy[file] && dice() % 2 == 0) {
      busy[file] = false;
      behind.ended(file);
    } else {
      note(file, extent);
      written[file] = {std::min(written[file].first, extent.offset), std::max(written[file].second, extent.end())};
    }
    while (const auto next = behind.next(now, dice() % 2 == 0)) {
      EXPECT_FALSE(busy[next->file]);
      busy[next->file] = true;
      EXPECT_GE(next->extent.offset, written[next->file].first);
      EXPECT_LE(next->extent.end(), written[next->file].second);
      EXPECT_LE(next->extent.length, WriteBehind::kLargest);
      EXPECT_GT(next->extent.length, 0u);
    }
  }
}

// A storage with a page cache, which holds its operations back until release(), and transfers while it is busy.
class WithPageCache final : public Storage {
 public:
  explicit WithPageCache(Storage& inner) : inner_(inner), capabilities_(inner.capabilities()) {
    capabilities_.write_behind = true;
  }

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return inner_.files(); }
  void use_memory(std::span<std::byte> memory) override { inner_.use_memory(memory); }
  void submit(const Transfer& transfer) override { inner_.submit(transfer); }
  size_t reap(std::span<Completion> done) override { return busy ? 0 : inner_.reap(done); }
  void submit(FileOperation operation) override {
    if (operation.kind != FileOperation::Kind::behind) return inner_.submit(std::move(operation));
    held.push_back(std::move(operation));
  }
  std::optional<FileOperationEnd> reap_operation() override { return inner_.reap_operation(); }
  void release() {
    for (FileOperation& operation : std::exchange(held, {})) inner_.submit(std::move(operation));
  }

  std::vector<FileOperation> held;
  bool busy = false;

 private:
  Storage& inner_;
  Capabilities capabilities_;
};

class BehindTheEngine : public ::testing::Test {
 protected:
  uint64_t write(FileId file, uint64_t offset) {
    return submit(file, Operation::write, {{{offset, memory_.size()}, memory_.data()}});
  }
  uint64_t submit(FileId file, Operation operation, std::vector<Piece> pieces = {}) {
    Request request;
    request.operation = operation;
    request.file = file;
    request.pieces = std::move(pieces);
    request.sink = &rig_.ends;
    request.token = request.sequence = rig_.next_token++;
    engine_.submit(std::move(request));
    return rig_.next_token - 1;
  }
  void run(Urgency urgency = Urgency::none) {
    for (int i = 0; i < 100; ++i) engine_.progress(urgency);
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(2 * kMiB);
  EngineRig rig_;
  WithPageCache storage_{rig_.faults};
  Engine engine_{storage_, rig_.fifo, rig_.clock, {}};
};

TEST_F(BehindTheEngine, OnlyTheCloseWaits) {
  const FileId file = engine_.open("file", OpenMode::create, 0, "");
  const uint64_t first = write(file, 0);
  run();
  EXPECT_TRUE(rig_.ends.of(first).ok());
  rig_.clock.advance(WriteBehind::kAge);
  run();
  ASSERT_EQ(storage_.held.size(), 1u);
  EXPECT_EQ(storage_.held[0].offset, 0u);
  EXPECT_EQ(storage_.held[0].size, 2 * kMiB);
  const uint64_t second = write(file, 2 * kMiB);
  const uint64_t cut = submit(file, Operation::truncate);
  run();
  EXPECT_TRUE(rig_.ends.of(second).ok());
  EXPECT_TRUE(rig_.ends.of(cut).ok());
  const uint64_t close = submit(file, Operation::close);
  run();
  EXPECT_FALSE(rig_.ends.has(close));
  EXPECT_FALSE(engine_.idle());
  storage_.release();
  run();
  EXPECT_TRUE(rig_.ends.of(close).ok());
  EXPECT_TRUE(engine_.idle());
  EXPECT_TRUE(storage_.held.empty()) << "the file is closed";
}

// A program whose requests wait hands over faster than storage takes them: it does not compute.
TEST_F(BehindTheEngine, RequestsComeFirst) {
  const FileId file = engine_.open("file", OpenMode::create, 0, "");
  write(file, 0);
  run();
  rig_.clock.advance(WriteBehind::kAge);
  storage_.busy = true;
  const uint64_t second = write(file, 2 * kMiB);
  run();
  EXPECT_FALSE(rig_.ends.has(second));
  EXPECT_TRUE(storage_.held.empty());
  storage_.busy = false;
  run();
  EXPECT_TRUE(rig_.ends.of(second).ok());
  EXPECT_EQ(storage_.held.size(), 1u);
  storage_.release();
  submit(file, Operation::close);
  run();
  EXPECT_TRUE(engine_.idle());
}

TEST_F(BehindTheEngine, MemoryComesFirst) {
  const FileId file = engine_.open("file", OpenMode::create, 0, "");
  const uint64_t first = write(file, 0);
  run(Urgency::crowded);
  rig_.clock.advance(WriteBehind::kAge);
  run(Urgency::crowded);
  EXPECT_TRUE(rig_.ends.of(first).ok());
  EXPECT_TRUE(storage_.held.empty());
  run(Urgency::waiting);
  EXPECT_TRUE(storage_.held.empty());
  run();
  EXPECT_EQ(storage_.held.size(), 1u);
  storage_.release();
  submit(file, Operation::close);
  run();
  EXPECT_TRUE(engine_.idle());
}

}  // namespace
}  // namespace tailrace::impl
