#include "channel/channel_memory.hpp"

#include <new>

namespace tailrace::impl {
namespace {

constexpr uint64_t kLine = 64;
constexpr uint64_t kPage = 4096;

constexpr uint64_t rounded(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

template <class T>
std::span<T> at(std::byte* memory, uint64_t offset, uint64_t count) {
  return {reinterpret_cast<T*>(memory + offset), count};
}

template <class T>
void construct_at(std::byte* memory, uint64_t offset, uint64_t count) {
  for (uint64_t index = 0; index < count; ++index) new (memory + offset + index * sizeof(T)) T();
}

}  // namespace

ChannelMemory::ChannelMemory(const ChannelSizes& sizes) : sizes_(sizes) {
  uint64_t end = sizeof(ChannelControl);
  const auto next = [&end](uint64_t count, uint64_t size) {
    const uint64_t begin = rounded(end, kLine);
    end = begin + count * size;
    return begin;
  };
  variables_ = next(sizes.variables, sizeof(VariableCounters));
  failures_ = next(FailureLog::kKept, sizeof(FailureRecord));
  tickets_ = next(sizes.tickets, sizeof(std::atomic<uint64_t>));
  ended_ = next(sizes.blocks, sizeof(std::atomic<uint64_t>));
  links_ = next(sizes.blocks, sizeof(std::atomic<uint32_t>));
  ring_ = next(sizes.ring, sizeof(Descriptor));
  bytes_ = rounded(end, kPage);
}

void ChannelMemory::construct(std::byte* memory) const {
  TAILRACE_REQUIRE(reinterpret_cast<uintptr_t>(memory) % kLine == 0);
  construct_at<ChannelControl>(memory, 0, 1);
  construct_at<VariableCounters>(memory, variables_, sizes_.variables);
  construct_at<FailureRecord>(memory, failures_, FailureLog::kKept);
  construct_at<std::atomic<uint64_t>>(memory, tickets_, sizes_.tickets);
  construct_at<std::atomic<uint64_t>>(memory, ended_, sizes_.blocks);
  construct_at<std::atomic<uint32_t>>(memory, links_, sizes_.blocks);
  construct_at<Descriptor>(memory, ring_, sizes_.ring);
}

Channel ChannelMemory::view(std::byte* memory, std::span<std::byte> pool) const {
  ChannelControl& control = ChannelMemory::control(memory);
  return Channel{pool,
                 FreeStack<>(control.free_head, at<std::atomic<uint32_t>>(memory, links_, sizes_.blocks)),
                 at<std::atomic<uint64_t>>(memory, ended_, sizes_.blocks),
                 SpscRing<Descriptor>(control.ring, at<Descriptor>(memory, ring_, sizes_.ring)),
                 TicketTable<>(at<std::atomic<uint64_t>>(memory, tickets_, sizes_.tickets)),
                 control.client_bell,
                 FailureLog(control.failures, at<FailureRecord>(memory, failures_, FailureLog::kKept)),
                 control.counters,
                 at<VariableCounters>(memory, variables_, sizes_.variables),
                 IterationLog(control.iterations),
                 FileLog(control.files),
                 IterationTable<>(control.unfinished),
                 control.server_life,
                 control.given_back,
                 control.hungry,
                 control.awaited};
}

}  // namespace tailrace::impl
