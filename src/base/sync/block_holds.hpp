// BlockHolds: which blocks of a pool the application keeps beyond their end; Hold: its word that it keeps one.
//
// The owner of the pool gives holds out, and asks. A hold may end on any thread, at any time, also after the pool's
// owner: so what both need is shared, and a hold that ends leaves its number on a stack that the owner takes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/sync/free_stack.hpp"

namespace tailrace::impl {

// The holds that have ended, and what keeps the pool's bytes where they are.
class EndedHolds {
 public:
  EndedHolds(uint32_t most, std::shared_ptr<void> memory)
      : memory_(std::move(memory)), links_(most), stack_(head_, links_) {}
  FreeStack<>& stack() { return stack_; }

 private:
  const std::shared_ptr<void> memory_;
  FreeStack<>::Head head_;
  std::vector<std::atomic<uint32_t>> links_;
  FreeStack<> stack_;
};

class Hold {
 public:
  Hold(std::shared_ptr<EndedHolds> ended, uint32_t number) : ended_(std::move(ended)), number_(number) {}
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() { ended_->stack().push(number_); }

 private:
  const std::shared_ptr<EndedHolds> ended_;
  const uint32_t number_;
};

// One thread, the owner's.
class BlockHolds {
 public:
  // For a pool of so many blocks, and as many holds at once. `memory` lives as long as any hold.
  BlockHolds(uint32_t blocks, std::shared_ptr<void> memory)
      : ended_(std::make_shared<EndedHolds>(blocks, std::move(memory))), blocks_(blocks) {
    free_.reserve(blocks);
    block_of_.resize(blocks);
    for (uint32_t number = blocks; number > 0; --number) free_.push_back(number - 1);
  }

  // Null if there are too many holds.
  std::unique_ptr<Hold> take(uint32_t block) {
    if (free_.empty()) return nullptr;
    auto hold = std::make_unique<Hold>(ended_, free_.back());
    block_of_[free_.back()] = block;
    free_.pop_back();
    ++blocks_[block].holds;
    return hold;
  }

  // The block has ended; whether it is kept all the same, until collect() gives it.
  bool keeps(uint32_t block) {
    blocks_[block].ended = blocks_[block].holds > 0;
    return blocks_[block].ended;
  }

  // Calls `each(block)` for the blocks that had ended and that nobody holds any more.
  template <class Each>
  void collect(Each each) {
    ended_->stack().take_all([&](uint32_t number) {
      free_.push_back(number);
      Block& block = blocks_[block_of_[number]];
      if (--block.holds == 0 && std::exchange(block.ended, false)) each(block_of_[number]);
    });
  }

 private:
  struct Block {
    uint32_t holds = 0;
    bool ended = false;  // and held
  };

  const std::shared_ptr<EndedHolds> ended_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> block_of_;  // by number of the hold
  std::vector<uint32_t> free_;      // numbers
};

}  // namespace tailrace::impl
