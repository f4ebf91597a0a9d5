// SmallChannel: a channel like ChannelMemory's, with parts of any size, so that rings and tables fill, and with a
// pool between two guards that notice whoever writes beside it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "place/channel.hpp"
#include "testing/simulation/session_plan.hpp"

namespace tailrace::impl::simulation {

class SmallChannel {
 public:
  SmallChannel(uint64_t pool, size_t variables, const ChannelSizes& sizes)
      : pool_(static_cast<std::byte*>(std::aligned_alloc(kGuard, pool + 2 * kGuard)), std::free),
        bytes_(pool),
        variables_(variables),
        links_(sizes.blocks),
        slots_(sizes.ring),
        tickets_(sizes.tickets),
        channel_{memory(),
                 FreeStack<>(head_, links_),
                 SpscRing<Descriptor>(counters_of_ring_, slots_),
                 TicketTable<>(tickets_),
                 bell_,
                 failures_,
                 counters_,
                 variables_} {
    std::fill_n(pool_.get(), bytes_ + 2 * kGuard, kMark);
  }

  Channel& channel() { return channel_; }
  bool guards_hold() const {
    const auto held = [](const std::byte* guard) {
      return std::all_of(guard, guard + kGuard, [](std::byte byte) { return byte == kMark; });
    };
    return held(pool_.get()) && held(pool_.get() + kGuard + bytes_);
  }

 private:
  static constexpr size_t kGuard = 4096;
  static constexpr std::byte kMark{0xa7};

  std::span<std::byte> memory() { return {pool_.get() + kGuard, bytes_}; }

  std::unique_ptr<std::byte, void (*)(void*)> pool_;
  const size_t bytes_;
  std::vector<VariableCounters> variables_;
  FreeStack<>::Head head_;
  std::vector<std::atomic<uint32_t>> links_;
  SpscRing<Descriptor>::Counters counters_of_ring_;
  std::vector<Descriptor> slots_;
  std::vector<std::atomic<uint64_t>> tickets_;
  WaitBell bell_;
  FailureLog failures_;
  ServerCounters counters_;
  Channel channel_;
};

}  // namespace tailrace::impl::simulation
