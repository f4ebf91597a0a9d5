// ChannelMemory: a channel and what it refers to, in the private memory of one process.
//
// For places whose two sides share an address space. Nothing in it knows which thread is which.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "place/channel.hpp"

namespace tailrace::impl {

class ChannelMemory {
 public:
  static constexpr uint32_t kRing = 4096;        // descriptors
  static constexpr uint32_t kTickets = 4096;     // open at once
  static constexpr uint32_t kMaxBlocks = 16384;  // of the pool

  // For a client with so many variables. `pool` outlives this.
  ChannelMemory(std::span<std::byte> pool, size_t variables)
      : variables_(new VariableCounters[variables]),
        free_links_(new std::atomic<uint32_t>[kMaxBlocks]()),
        ring_slots_(new Descriptor[kRing]),
        ticket_words_(new std::atomic<uint64_t>[kTickets]()),
        channel_{pool,
                 FreeStack<>(free_head_, {free_links_.get(), kMaxBlocks}),
                 SpscRing<Descriptor>(ring_counters_, {ring_slots_.get(), kRing}),
                 TicketTable<>({ticket_words_.get(), kTickets}),
                 client_bell_,
                 failures_,
                 counters_,
                 {variables_.get(), variables}} {}

  Channel& channel() { return channel_; }

 private:
  std::unique_ptr<VariableCounters[]> variables_;
  FreeStack<>::Head free_head_;
  std::unique_ptr<std::atomic<uint32_t>[]> free_links_;
  SpscRing<Descriptor>::Counters ring_counters_;
  std::unique_ptr<Descriptor[]> ring_slots_;
  std::unique_ptr<std::atomic<uint64_t>[]> ticket_words_;
  WaitBell client_bell_;
  FailureLog failures_;
  ServerCounters counters_;
  Channel channel_;  // each part says which side may use it
};

}  // namespace tailrace::impl
