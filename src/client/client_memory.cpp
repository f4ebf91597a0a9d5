#include "client/client_memory.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/names/counted.hpp"

namespace tailrace::impl {

ClientMemory::ClientMemory(Place& place, ServerLink& link, Log& log)
    : place_(place),
      channel_(place.channel()),
      link_(link),
      log_(log),
      pool_(channel_.memory.size(), channel_.returned) {}

Result<std::optional<PoolBlock>> ClientMemory::allocate(uint64_t bytes) {
  reclaim();
  const auto block = pool_.allocate(bytes);
  if (!block) return block;
  link_.has_come_back(block->index);
  // The pool gives out its lowest part first, so all memory that was used lies below all that was not.
  const uint64_t end = block->offset + RangeAllocator::rounded(bytes);
  if (end <= taken_) return block;
  if (Status status = place_.take(taken_, end - taken_); !status.ok()) {
    pool_.free(*block);
    return status;
  }
  taken_ = end;
  return block;
}

Result<PoolBlock> ClientMemory::take(uint64_t bytes) {
  const auto block = allocate(bytes);
  if (!block.ok()) return block.status();
  if (block.value()) return *block.value();
  if (Status fits = check_size(bytes); !fits.ok()) return fits;
  return wait_for(bytes);
}

Result<PoolBlock> ClientMemory::wait_for(uint64_t bytes) {
  if (!std::exchange(warned_, true)) {
    log_.info(
        "the computation waits for memory: all {} MiB of the budget are in use, and storage is slower than the "
        "program writes; a larger memory.budget would smooth bursts (said once)",
        pool_.size() >> 20);
  }
  Result<std::optional<PoolBlock>> block = std::optional<PoolBlock>();
  const Status waited = link_.wait_for_room([&] {
    block = allocate(bytes);
    if (!block.ok() || block.value() || pool_.held() == withheld_ + pool_.kept()) return true;
    // The server may keep blocks for actions. It must know that the client waits for them, and how many the client
    // has seen come back. If it has given back more since, it rings. release: the blocks were collected before;
    // partner: the acquire in ChannelEnds::waits_for_memory().
    channel_.hungry.store(1 + pool_.collected(), std::memory_order_release);
    place_.ring();
    return false;
  });
  channel_.hungry.store(0, std::memory_order_relaxed);
  if (!waited.ok()) return waited;
  if (!block.ok()) return block.status();
  if (block.value()) return *block.value();
  return Status(TAILRACE_BUDGET_HELD,
                fmt::format("no room for {}: of the budget's {} bytes, {} are allocated by the caller and not "
                            "committed (or held by its open files), {} are of committed blocks that it still keeps "
                            "(arrays from alloc that are alive), and nothing else will become free",
                            counted(bytes, "byte"), pool_.size(), withheld_, pool_.kept()));
}

Status ClientMemory::check_size(uint64_t bytes) const {
  if (bytes <= pool_.size()) return {};
  return Status(TAILRACE_TOO_LARGE, fmt::format("a block of {} bytes can never fit into the memory budget of {} "
                                                "bytes; raise memory.budget",
                                                bytes, pool_.size()));
}

void ClientMemory::reclaim() {
  if (!link_.take_loss()) return;
  // The order matters: the server of this life may die, and another begin, at any moment.
  const uint32_t life = link_.life();
  pool_.collect();
  for (uint32_t block = 0; block < channel_.returned.capacity(); ++block) {
    if (!pool_.holds(block) || !link_.was_left_by_the_dead(block, life)) continue;
    link_.has_come_back(block);
    pool_.free({block, 0});
  }
}

}  // namespace tailrace::impl
