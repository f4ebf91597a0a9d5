// PendingIndex against a plain model: for every byte, its last writer, the source, and the readers since.
#include "engine/queue/pending_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

struct Byte {
  uint32_t writer = PendingIndex::kNobody;
  const std::byte* memory = nullptr;
  std::set<uint32_t> readers;
  bool operator==(const Byte&) const = default;
  bool free() const { return writer == PendingIndex::kNobody && readers.empty(); }
};
using Bytes = std::map<uint64_t, Byte>;

class IndexRun {
 public:
  IndexRun(uint64_t seed, uint64_t file_bytes) : dice_(seed), file_bytes_(file_bytes) {}

  void run(uint64_t steps) {
    for (uint64_t step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      if (!held_.empty() && dice_.chance(45)) {
        forget(std::next(held_.begin(), static_cast<ptrdiff_t>(dice_.below(held_.size())))->first);
      } else {
        dice_.chance(60) ? write() : read();
      }
    }
    while (!held_.empty()) forget(held_.begin()->first);
    EXPECT_TRUE(index_.empty());
    EXPECT_TRUE(bytes_.empty());
  }

 private:
  std::vector<Piece> some_pieces() {
    std::vector<Piece> pieces;
    uint64_t at = dice_.below(file_bytes_);
    const uint64_t gap = dice_.chance(50) ? 3 : 40;
    for (uint64_t i = dice_.chance(20) ? dice_.between(1, 200) : dice_.between(1, 4); i > 0; --i) {
      const uint64_t length = dice_.between(1, 9);
      pieces.push_back({{at, length}, memory_ + 100'000 * (next_ % 7) + at});
      at += length + dice_.below(gap);
    }
    return pieces;
  }

  Byte as_byte(const PendingIndex::Run& run, uint64_t at) const {
    Byte byte;
    byte.writer = run.writer;
    if (run.writer != PendingIndex::kNobody) byte.memory = run.memory + (at - run.offset);
    index_.readers().for_each(run.readers, [&](uint32_t reader) { byte.readers.insert(reader); });
    return byte;
  }

  // Compares the index with the model.
  void compare(const Extent& extent, const PendingIndex::Run& run) {
    for (uint64_t at = extent.offset; at < extent.end(); ++at) {
      ASSERT_TRUE(bytes_.contains(at)) << at;
      ASSERT_EQ(as_byte(run, at), bytes_[at]) << at;
      ++seen_;
    }
  }

  uint64_t held_in(const std::vector<Piece>& pieces) const {
    uint64_t count = 0;
    for (const Piece& piece : pieces) {
      count += std::distance(bytes_.lower_bound(piece.extent.offset), bytes_.lower_bound(piece.extent.end()));
    }
    return count;
  }

  void write() {
    const uint32_t slot = next_++;
    const std::vector<Piece> pieces = some_pieces();
    seen_ = 0;
    index_.write(pieces, slot, [&](const Extent& extent, const PendingIndex::Run& run) { compare(extent, run); });
    EXPECT_EQ(seen_, held_in(pieces));
    for (const Piece& piece : pieces) {
      for (uint64_t i = 0; i < piece.extent.length; ++i) {
        bytes_[piece.extent.offset + i] = {slot, piece.memory + i, {}};
      }
    }
    held_[slot] = pieces;
  }

  void read() {
    const uint32_t slot = next_++;
    const std::vector<Piece> pieces = some_pieces();
    std::vector<Piece> left;
    uint64_t at = 0;  // the index reports everything in order
    seen_ = 0;
    const uint64_t expected = held_in(pieces);
    const auto found = [&](const Extent& extent, const PendingIndex::Run& run) {
      EXPECT_GE(extent.offset, at);
      at = extent.offset;
      compare(extent, run);
      return run.writer != PendingIndex::kNobody && run.writer % 3 == 0;
    };
    const auto unserved = [&](const Extent& extent) {
      EXPECT_GE(extent.offset, at);
      at = extent.end();
      left.push_back({extent, nullptr});
    };
    index_.read(pieces, slot, found, unserved);
    EXPECT_EQ(seen_, expected);
    uint64_t served = 0;
    for (const Piece& piece : pieces) {
      for (uint64_t byte = piece.extent.offset; byte < piece.extent.end(); ++byte) {
        const auto known = bytes_.find(byte);
        const bool serves =
            known != bytes_.end() && known->second.writer != PendingIndex::kNobody && known->second.writer % 3 == 0;
        served += serves ? 1 : 0;
        if (!serves) bytes_[byte].readers.insert(slot);
      }
    }
    uint64_t lengths = 0;
    for (const Piece& piece : pieces) lengths += piece.extent.length;
    for (const Piece& piece : left) served += piece.extent.length;
    EXPECT_EQ(served, lengths);
    held_[slot] = left;
  }

  void forget(uint32_t slot) {
    index_.forget(held_.at(slot), slot);
    held_.erase(slot);
    for (auto& [at, byte] : bytes_) {
      if (byte.writer == slot) {
        byte.writer = PendingIndex::kNobody;
        byte.memory = nullptr;
      }
      byte.readers.erase(slot);
    }
    std::erase_if(bytes_, [](const auto& entry) { return entry.second.free(); });
  }

  Dice dice_;
  const uint64_t file_bytes_;
  PendingIndex index_;
  Bytes bytes_;
  std::map<uint32_t, std::vector<Piece>> held_;
  std::byte* const memory_ = reinterpret_cast<std::byte*>(uintptr_t{1} << 20);  // never looked at
  uint32_t next_ = 0;
  uint64_t seen_ = 0;
};

TEST(PendingIndex, AgreesWithAPlainModel) {
  for_seeds(200, [](uint64_t seed) {
    IndexRun(seed, 60).run(200);
    IndexRun(seed, 3000).run(300);
  });
}

TEST(ReaderSets, KeepsSmallSets) {
  ReaderSets sets;
  const auto members = [&](ReaderSets::Id set) {
    std::set<uint32_t> all;
    sets.for_each(set, [&](uint32_t slot) { all.insert(slot); });
    return all;
  };
  ReaderSets::Id set = sets.with(ReaderSets::kEmpty, 0);
  EXPECT_EQ(members(set), (std::set<uint32_t>{0}));
  set = sets.with(sets.with(sets.with(set, 7), 7), 9);
  const ReaderSets::Id copy = sets.copy(set);
  set = sets.without(set, 7);
  set = sets.without(set, 0);
  EXPECT_EQ(members(set), (std::set<uint32_t>{9}));
  EXPECT_EQ(members(copy), (std::set<uint32_t>{0, 7, 9}));
  EXPECT_EQ(sets.without(set, 8), set);
  EXPECT_EQ(sets.without(set, 9), ReaderSets::kEmpty);
  sets.drop(copy);
}

}  // namespace
}  // namespace tailrace::impl
