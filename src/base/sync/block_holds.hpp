// BlockHolds: the blocks of a pool that the application keeps beyond their end. Hold: keeps one block.
//
// The owner of the pool gives holds out and collects those that ended. A hold may end on any thread, at any time,
// even after the pool's owner. So both share their common state, and a hold that ends pushes its number on a stack
// that the owner takes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/sync/free_stack.hpp"

namespace tailrace::impl {

// EndedHolds: the holds that have ended, and the reference that keeps the pool's bytes mapped.
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

// Used by one thread, the owner's.
class BlockHolds {
 public:
  // Serves a pool of `blocks` blocks, with at most that many holds at once. `memory` lives as long as any hold.
  BlockHolds(uint32_t blocks, std::shared_ptr<void> memory)
      : ended_(std::make_shared<EndedHolds>(blocks, std::move(memory))), blocks_(blocks) {
    free_.reserve(blocks);
    block_of_.resize(blocks);
    for (uint32_t number = blocks; number > 0; --number) free_.push_back(number - 1);
  }

  // Makes a hold of the block. Null if there are too many holds.
  std::unique_ptr<Hold> take(uint32_t block) {
    if (free_.empty()) return nullptr;
    auto hold = std::make_unique<Hold>(ended_, free_.back());
    block_of_[free_.back()] = block;
    free_.pop_back();
    ++blocks_[block].holds;
    return hold;
  }

  // Notes that the block has ended. Returns true if a hold keeps it; collect() then returns it later.
  bool keeps(uint32_t block) {
    blocks_[block].ended = blocks_[block].holds > 0;
    return blocks_[block].ended;
  }

  // Calls `each(block)` for the ended blocks whose last hold has ended.
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
    bool ended = false;  // and still held
  };

  const std::shared_ptr<EndedHolds> ended_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> block_of_;  // by the hold's number
  std::vector<uint32_t> free_;      // free numbers of holds
};

}  // namespace tailrace::impl
