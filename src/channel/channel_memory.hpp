// ChannelMemory: the layout of a channel's parts in memory, and a side's view of them.
//
// The layout is the same in every place: private memory for `thread`, a segment that two processes map for `core`. It
// contains all parts except the pool's bytes, each on cache lines of its own. Sizes travel beside the memory, never
// in it: a side computes with the sizes that it knows, and reads none that the other side could have changed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/sync/sleep_flag.hpp"
#include "channel/channel.hpp"

namespace tailrace::impl {

struct ChannelSizes {
  uint32_t variables = 0;
  uint32_t ring = 4096;     // descriptors; a power of two
  uint32_t tickets = 4096;  // most open at once
  uint32_t blocks = 16384;  // of the pool, at most

  bool operator==(const ChannelSizes&) const = default;
};

// The parts of fixed size.
struct ChannelControl {
  alignas(64) SleepFlag<> server_asleep;  // place `core`: the client must ring
  std::atomic<uint32_t> server_life{0};
  std::atomic<uint64_t> given_back{0};
  // Place `core`: the client's state, for a server that finds the channel after another's death.
  static constexpr uint32_t kClientUnaware = 0;  // it does not know of the channel yet
  static constexpr uint32_t kClientHere = 1;
  static constexpr uint32_t kClientLeft = 2;  // it will not return, and all requests that it waited for have ended
  std::atomic<uint32_t> client_state{kClientUnaware};
  std::atomic<uint64_t> hungry{0};
  std::atomic<uint32_t> awaited{0};
  // Place `core`: bytes from the pool's start that the client has used; it writes, the server takes pages ahead.
  std::atomic<uint64_t> used{0};
  alignas(64) WaitBell client_bell;
  FreeStack<>::Head free_head;
  SpscRing<Descriptor>::Counters ring;
  FailureLog::Shared failures;
  alignas(64) ServerCounters counters;
  IterationLog::Shared iterations;
  FileLog::Shared files;
  IterationTable<>::Shared unfinished;
};

static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<uint64_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<bool>) == 1 && sizeof(std::atomic<uint64_t>) == 8);

class ChannelMemory {
 public:
  explicit ChannelMemory(const ChannelSizes& sizes);

  const ChannelSizes& sizes() const { return sizes_; }
  // Returns the size of all parts, a multiple of the page.
  uint64_t bytes() const { return bytes_; }

  // Constructs the parts in `memory`, which is aligned to cache lines. Call it once, before either side reads it.
  void construct(std::byte* memory) const;
  // Returns a side's view of constructed parts and of the pool.
  Channel view(std::byte* memory, std::span<std::byte> pool) const;
  static ChannelControl& control(std::byte* memory) { return *reinterpret_cast<ChannelControl*>(memory); }

 private:
  ChannelSizes sizes_;
  // Offsets.
  uint64_t variables_, failures_, tickets_, ended_, links_, ring_, bytes_;
};

}  // namespace tailrace::impl
