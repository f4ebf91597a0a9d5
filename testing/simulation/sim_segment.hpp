// SimSegment: the simulated memory that a client and its node's server share; it outlives both. It has the real
// layout of a channel's parts, with parts of any size, and a pool between two guards that detect writes outside it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "channel/channel_memory.hpp"
#include "testing/simulation/session_plan.hpp"

namespace tailrace::impl::simulation {

class SimSegment {
 public:
  SimSegment(uint64_t pool, size_t variables, const ChannelSizes& sizes)
      : pool_(pool),
        layout_(impl::ChannelSizes{static_cast<uint32_t>(variables), sizes.ring, sizes.tickets, sizes.blocks}),
        memory_(static_cast<std::byte*>(std::aligned_alloc(kGuard, 2 * kGuard + pool + layout_.bytes())), std::free) {
    std::fill_n(memory_.get(), 2 * kGuard + pool_, kMark);
    layout_.construct(parts());
  }

  // Returns a side's view.
  Channel view() { return layout_.view(parts(), {memory_.get() + kGuard, pool_}); }
  ChannelControl& control() { return ChannelMemory::control(parts()); }
  bool guards_hold() const {
    const auto held = [](const std::byte* guard) {
      return std::all_of(guard, guard + kGuard, [](std::byte byte) { return byte == kMark; });
    };
    return held(memory_.get()) && held(memory_.get() + kGuard + pool_);
  }

 private:
  static constexpr size_t kGuard = 4096;
  static constexpr std::byte kMark{0xa7};

  std::byte* parts() { return memory_.get() + 2 * kGuard + pool_; }

  const uint64_t pool_;
  const ChannelMemory layout_;
  const std::unique_ptr<std::byte, void (*)(void*)> memory_;
};

}  // namespace tailrace::impl::simulation
