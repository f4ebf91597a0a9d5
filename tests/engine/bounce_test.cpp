// Bounce buffers, from the requests' side: writes of memory that no direct transfer can use bypass the page cache all
// the same, wait when all buffers are in use, and delay no other request.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine_rig.hpp"

namespace tailrace::impl {
namespace {

constexpr uint32_t kPage = 4096;

EngineRigOptions bouncing(uint64_t bytes, uint32_t count) {
  EngineRigOptions options;
  options.plan.pretend_direct = kPage;
  options.plan.delay_reaps = 3;
  options.engine.execute.direct_from = 2 * kPage;
  options.engine.execute.bounce_bytes = bytes;
  options.engine.execute.bounce_count = count;
  return options;
}

// Memory that begins 16 bytes after a page, as from malloc and NumPy.
class OddMemory {
 public:
  OddMemory(uint64_t bytes, char first) : memory_(bytes + 2 * kPage), bytes_(bytes) {
    void* page = memory_.data();
    size_t room = memory_.size();
    at_ = static_cast<char*>(std::align(kPage, bytes, page, room)) + 16;
    for (uint64_t i = 0; i < bytes; ++i) at_[i] = static_cast<char>(first + i % 61);
  }

  Piece to(uint64_t offset) { return {{offset, bytes_}, reinterpret_cast<std::byte*>(at_)}; }
  std::string text() const { return {at_, bytes_}; }
  void scribble() { std::fill_n(at_, bytes_, '!'); }

 private:
  std::vector<char> memory_;
  uint64_t bytes_;
  char* at_;
};

class BounceMemory : public ::testing::TestWithParam<bool> {};

TEST_P(BounceMemory, OddMemoryGoesDirectAndArrives) {
  EngineRigOptions options = bouncing(4 * kPage, 2);
  options.engine.execute.bounce_prefault = GetParam();
  EngineRig rig(options);
  const FileId file = rig.create("f", 0);
  OddMemory odd(30 * kPage + 7, 'A');
  const std::string expected = odd.text();
  rig.submit(Operation::write, file, {odd.to(kPage)});
  rig.ends.then = [&](const Request&, const Status&) { odd.scribble(); };  // the program may use it again
  rig.run_until_idle();
  EXPECT_EQ(rig.text("f.part").substr(kPage), expected);
  EXPECT_EQ(rig.engine.counts().transfers.direct, 7U);     // of 4 pages …
  EXPECT_EQ(rig.engine.counts().transfers.transfers, 8U);  // … and what is too short for it
  rig.submit(Operation::close, file);
  rig.run_until_idle();
}

INSTANTIATE_TEST_SUITE_P(Prefault, BounceMemory, ::testing::Bool());

// Many short pieces, as of the rows of a matrix.
TEST(Bounce, ShortPiecesGoDirectTogether) {
  EngineRig rig(bouncing(8 * kPage, 2));
  const FileId file = rig.create("f", 0);
  std::vector<OddMemory> rows;
  std::vector<Piece> pieces;
  std::string expected;
  for (uint64_t i = 0; i < 32; ++i) rows.emplace_back(kPage, static_cast<char>('A' + i));
  for (uint64_t i = 0; i < 32; ++i) {
    pieces.push_back(rows[i].to(i * kPage));
    expected += rows[i].text();
  }
  rig.submit(Operation::write, file, pieces);
  rig.run_until_idle();
  EXPECT_EQ(rig.text("f.part"), expected);
  EXPECT_EQ(rig.engine.counts().transfers.direct, 4U);
  EXPECT_EQ(rig.engine.counts().transfers.transfers, 4U);
  rig.submit(Operation::close, file);
  rig.run_until_idle();
}

// A write that waits for a buffer began earlier, and ends later.
TEST(Bounce, ShortWritesDoNotWaitForBuffers) {
  EngineRig rig(bouncing(2 * kPage, 1));
  const FileId file = rig.create("f", 0);
  OddMemory first(20 * kPage, 'A');
  OddMemory second(20 * kPage, 'B');
  std::string small = "small";
  rig.submit(Operation::write, file, {first.to(0)});
  const uint64_t waits = rig.submit(Operation::write, file, {second.to(32 * kPage)});
  const uint64_t goes = rig.submit(Operation::write, file, {piece_of(64 * kPage, small)});
  rig.run_until_idle();
  const auto at = [&](uint64_t token) {
    return std::find(rig.ends.order.begin(), rig.ends.order.end(), token) - rig.ends.order.begin();
  };
  EXPECT_LT(at(goes), at(waits));
  const std::string text = rig.text("f.part");
  EXPECT_EQ(text.substr(0, 20 * kPage), first.text());
  EXPECT_EQ(text.substr(32 * kPage, 20 * kPage), second.text());
  EXPECT_EQ(text.substr(64 * kPage), small);
  rig.submit(Operation::close, file);
  rig.run_until_idle();
}

TEST(Bounce, WhereThereIsNoMemoryForBuffersTheyGoThroughThePageCache) {
  EngineRig rig(bouncing(uint64_t{1} << 44, 1));
  const FileId file = rig.create("f", 0);
  OddMemory odd(30 * kPage, 'A');
  rig.submit(Operation::write, file, {odd.to(0)});
  rig.run_until_idle();
  EXPECT_EQ(rig.text("f.part"), odd.text());
  EXPECT_EQ(rig.engine.counts().transfers.direct, 0U);
  rig.submit(Operation::close, file);
  rig.run_until_idle();
}

// Short transfers, interruptions and a refusal of O_DIRECT are continued with the program's bytes.
TEST(Bounce, InterruptedCopiesAreContinued) {
  EngineRigOptions options = bouncing(4 * kPage, 2);
  options.plan.short_percent = 40;
  options.plan.eintr_percent = 20;
  options.plan.eagain_percent = 20;
  options.plan.reorder = true;
  EngineRig rig(options);
  const FileId file = rig.create("f", 0);
  OddMemory odd(100 * kPage + 3, 'A');
  rig.submit(Operation::write, file, {odd.to(5)});
  rig.run_until_idle();
  EXPECT_EQ(rig.text("f.part").substr(5), odd.text());
  rig.submit(Operation::close, file);
  rig.run_until_idle();
}

}  // namespace
}  // namespace tailrace::impl
