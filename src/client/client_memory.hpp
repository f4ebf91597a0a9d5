// ClientMemory: the client's end of the pool. Gives blocks, at once or after a wait, and takes back what the server
// has done with, also what a dead server could not give back.
//
// It takes no notice of `when_full`: Admission decides which blocks are waited for. The client's thread; no lock, no
// allocation, no system call but those of a wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/log.hpp"
#include "base/memory/pool.hpp"
#include "base/status.hpp"
#include "client/server_link.hpp"
#include "place/place.hpp"

namespace tailrace::impl {

class ClientMemory {
 public:
  // All are borrowed.
  ClientMemory(Place& place, ServerLink& link, Log& log);

  // A block, if there is room now. TAILRACE_OUT_OF_MEMORY if there is, but the system has no memory for it.
  Result<std::optional<PoolBlock>> allocate(uint64_t bytes);
  // A block, now or after a wait. TAILRACE_TOO_LARGE if there can never be one, TAILRACE_BUDGET_HELD if nothing will
  // become free.
  Result<PoolBlock> take(uint64_t bytes);
  // Waits for a block that fits into the pool, and for which there was no room just now.
  Result<PoolBlock> wait_for(uint64_t bytes);
  // Ok if a block of this size fits into the pool, else TAILRACE_TOO_LARGE.
  Status check_size(uint64_t bytes) const;
  // Gives back a block that the server does not use.
  void free(PoolBlock block) { pool_.free(block); }
  // Keeps a block in use beyond its end; null if too many are kept.
  std::unique_ptr<Hold> keep(PoolBlock block) { return pool_.hold(block, place_.memory()); }
  // Takes back what a server that has died had done with and could not give back.
  void reclaim();

  // Says that the application holds a block of this size until it likes: nobody is to wait for it.
  void withhold(uint64_t bytes) { withheld_ += RangeAllocator::rounded(bytes); }
  // Says that it holds the block no longer.
  void release(uint64_t bytes) { withheld_ -= RangeAllocator::rounded(bytes); }

  // The pool's bytes.
  std::span<std::byte> bytes() const { return channel_.memory; }
  std::byte* at(PoolBlock block) const { return channel_.memory.data() + block.offset; }
  uint64_t size() const { return pool_.size(); }
  PoolOwner& pool() { return pool_; }

 private:
  Status take_up_to(uint64_t end);
  void tell_hunger();

  // Constant after construction.
  Place& place_;
  Channel& channel_;
  ServerLink& link_;
  Log& log_;

  // The client's thread only.
  PoolOwner pool_;
  uint64_t taken_ = 0;     // so much of the pool, from its start, has the system given
  uint64_t withheld_ = 0;  // bytes of blocks that are not committed, and of the paths of open files
  bool warned_ = false;    // of waiting
};

}  // namespace tailrace::impl
