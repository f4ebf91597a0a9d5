// OwnWrites against a plain model: for each byte of each file, the write that has it.
#include "client/own_writes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr uint32_t kFiles = 2;
constexpr uint32_t kBlocks = 6;
constexpr uint64_t kBytes = 25;  // of a file

using Write = std::pair<uint32_t, uint64_t>;  // block, sequence

struct Byte {
  Write write;
  std::byte value{};
};

class Model {
 public:
  explicit Model(uint64_t seed) : dice_(seed) {}

  void step() {
    switch (dice_.below(8)) {
      case 0:
      case 1:
      case 2: return write();
      case 3: return end();
      default: return read();
    }
  }
  uint64_t found() const { return found_; }

 private:
  // Some extents in any order, none overlapping another.
  std::vector<Extent> extents() {
    std::vector<Extent> all;
    std::set<uint64_t> taken;
    for (uint64_t count = dice_.between(1, 4); count > 0; --count) {
      const uint64_t offset = dice_.below(kBytes);
      const uint64_t length = dice_.between(1, std::min<uint64_t>(12, kBytes - offset));
      bool free = true;
      for (uint64_t i = 0; i < length; ++i) free = free && !taken.contains(offset + i);
      for (uint64_t i = 0; free && i < length; ++i) taken.insert(offset + i);
      if (free) all.push_back({offset, length});
    }
    return all;
  }

  void write() {
    const auto block = static_cast<uint32_t>(dice_.below(kBlocks));
    if (in_use_.contains(block)) return;
    const auto file = static_cast<uint32_t>(dice_.below(kFiles));
    const std::vector<Extent> list = extents();
    std::vector<std::byte>& memory = memory_[block];
    memory.clear();
    ++sequence_;
    for (const Extent& extent : list) {
      for (uint64_t at = extent.offset; at < extent.end(); ++at) {
        memory.push_back(static_cast<std::byte>(dice_.below(256)));
        bytes_[file][at] = Byte{{block, sequence_}, memory.back()};
      }
    }
    own_.sent(file, block, sequence_, list, memory.data());
    in_use_.insert(block);
    pending_.insert({block, sequence_});
  }

  // Ends one of those under way; its block may be reused.
  void end() {
    if (pending_.empty()) return;
    const auto it = std::next(pending_.begin(), static_cast<ptrdiff_t>(dice_.below(pending_.size())));
    in_use_.erase(it->first);
    pending_.erase(it);
  }

  void read() {
    const auto file = static_cast<uint32_t>(dice_.below(kFiles));
    const std::vector<Extent> list = extents();
    std::vector<std::byte> expected;
    bool all = true;
    for (const Extent& extent : list) {
      for (uint64_t at = extent.offset; at < extent.end(); ++at) {
        const std::optional<Byte>& of = bytes_[file][at];
        all = all && of && pending_.contains(of->write);
        expected.push_back(of ? of->value : std::byte{});
      }
    }
    std::vector<std::byte> got(expected.size());
    const bool found = own_.read(file, list, got.data(), [this](uint32_t block, uint64_t sequence) {
      return pending_.contains({block, sequence});
    });
    ASSERT_EQ(found, all);
    if (found) {
      ASSERT_EQ(got, expected);
      ++found_;
    }
  }

  Dice dice_;
  OwnWrites own_;
  uint64_t sequence_ = 0;
  uint64_t found_ = 0;
  std::array<std::vector<std::byte>, kBlocks> memory_;
  std::array<std::array<std::optional<Byte>, kBytes>, kFiles> bytes_;
  std::set<Write> pending_;
  std::set<uint32_t> in_use_;
};

TEST(OwnWrites, AsTheModelSays) {
  for_seeds(200, [](uint64_t seed) {
    Model model(seed);
    for (int i = 0; i < 1000; ++i) ASSERT_NO_FATAL_FAILURE(model.step());
    EXPECT_GT(model.found(), 0u) << "all reads were misses";
  });
}

TEST(OwnWrites, AFileThatIsClosedHasNone) {
  OwnWrites own;
  const uint32_t one = own.opened({1, 1});
  const uint32_t other = own.opened({1, 2});
  EXPECT_EQ(own.opened({1, 1}), one);
  EXPECT_NE(one, other);
  EXPECT_EQ(own.opened({}), OwnWrites::kUnknown);
  const std::array<std::byte, 8> bytes{};
  std::array<std::byte, 8> to{};
  const auto always = [](uint32_t, uint64_t) { return true; };
  const std::vector<Extent> list{{100, 8}};
  own.sent(one, 0, 1, list, bytes.data());
  own.sent(other, 1, 2, list, bytes.data());
  own.closed(one);
  EXPECT_TRUE(own.read(one, list, to.data(), always)) << "it is open once more";
  own.closed(one);
  EXPECT_FALSE(own.read(one, list, to.data(), always));
  EXPECT_TRUE(own.read(other, list, to.data(), always));
  EXPECT_NE(own.opened({1, 1}), one) << "by now it may be another file";
}

}  // namespace
}  // namespace tailrace::impl
