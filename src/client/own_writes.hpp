// OwnWrites: which bytes of raw files a client has handed over and may still be in its pool, and where. A read that
// finds all of its bytes there needs no server: the client's own pending writes are what it would get.
//
// Whether a write is still pending is not known here, but asked when it matters. The client's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

class OwnWrites {
 public:
  // Returns true if the write that a block of the pool went away with, under this sequence, has yet to end. Then the
  // block has the bytes that were written, and nobody else has written there since.
  using IsPending = FunctionRef<bool(uint32_t block, uint64_t sequence)>;

  // A block that is being handed over: its bytes, which lie one after the other, belong to `extents` of `file`. What
  // it held before is forgotten. The extents do not overlap.
  void sent(uint32_t file, uint32_t block, uint64_t sequence, std::span<const Extent> extents,
            const std::byte* bytes);

  // Copies the bytes of `extents`, one after the other, if all of them are in pending writes; else false, and `to`
  // may have been written to.
  bool read(uint32_t file, std::span<const Extent> extents, std::byte* to, IsPending is_pending) const;

  // The file is closed, and nothing of it is pending.
  void forget(uint32_t file);

 private:
  struct Run {
    uint64_t end = 0;
    const std::byte* bytes = nullptr;
    uint32_t block = 0;
    uint64_t sequence = 0;
  };
  // The write that a block went away with.
  struct Sent {
    uint32_t file = 0;
    uint64_t sequence = 0;
    std::vector<Extent> extents;
  };
  using Key = std::pair<uint32_t, uint64_t>;  // file, offset
  using Runs = std::map<Key, Run>;

  Runs::iterator first_after(uint32_t file, uint64_t offset);
  void cut(uint32_t file, const Extent& extent);
  void forget_block(uint32_t block);

  // The client's thread only.
  Runs runs_;               // none overlaps another of its file
  std::vector<Sent> sent_;  // by block
};

}  // namespace tailrace::impl
