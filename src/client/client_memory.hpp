// ClientMemory: the client's end of the pool. Allocates blocks, at once or after a wait, and takes back those that
// the server has finished with, and those that a dead server could not give back.
//
// It ignores `when_full`: Admission decides which blocks to wait for. Runs on the client's thread; no lock, no
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
  // Borrows all its arguments.
  ClientMemory(Place& place, ServerLink& link, Log& log);

  // Returns a block if there is room now; TAILRACE_OUT_OF_MEMORY if there is room but the system has no memory for
  // it.
  Result<std::optional<PoolBlock>> allocate(uint64_t bytes);
  // Returns a block, now or after a wait; TAILRACE_TOO_LARGE if it never fits, TAILRACE_BUDGET_HELD if no memory will
  // become free.
  Result<PoolBlock> take(uint64_t bytes);
  // Waits for a block that fits into the pool, after allocate() found no room.
  Result<PoolBlock> wait_for(uint64_t bytes);
  // Returns ok if a block of this size fits into the pool, else TAILRACE_TOO_LARGE.
  Status check_size(uint64_t bytes) const;
  // Frees a block that the server does not use.
  void free(PoolBlock block) { pool_.free(block); }
  // Keeps a block in use beyond its end; returns null if too many are kept.
  std::unique_ptr<Hold> keep(PoolBlock block) { return pool_.hold(block, place_.memory()); }
  // Takes back the blocks that a server which has died had finished with and could not give back.
  void reclaim();

  // Notes that the application holds a block of this size for an unlimited time: no call may wait for that memory.
  void withhold(uint64_t bytes) { withheld_ += RangeAllocator::rounded(bytes); }
  // Notes that the application no longer holds the block.
  void release(uint64_t bytes) { withheld_ -= RangeAllocator::rounded(bytes); }

  // Returns the pool's memory.
  std::span<std::byte> bytes() const { return channel_.memory; }
  std::byte* at(PoolBlock block) const { return channel_.memory.data() + block.offset; }
  uint64_t size() const { return pool_.size(); }
  PoolOwner& pool() { return pool_; }

 private:
  // Constant after construction.
  Place& place_;
  Channel& channel_;
  ServerLink& link_;
  Log& log_;

  // Used by the client's thread only.
  PoolOwner pool_;
  uint64_t taken_ = 0;     // bytes, from the pool's start, that the system has given memory for
  uint64_t withheld_ = 0;  // bytes of uncommitted blocks, and of the paths of open files
  bool warned_ = false;    // that the program waits for memory
};

}  // namespace tailrace::impl
