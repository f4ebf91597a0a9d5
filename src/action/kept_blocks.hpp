// KeptBlocks: decides which blocks stay in memory for actions, and which may be released.
//
// A block is held from hand-over until the actions of its iteration have ended and, if its variable has `keep: k`,
// until k later iterations of its source have ended. Pure book-keeping on the server's thread: the caller owns the
// memory and counts its other users (the storage).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "action/held_block.hpp"

namespace tailrace::impl {

class KeptBlocks {
 public:
  explicit KeptBlocks(const std::vector<Variable>& variables);

  // Holds the block. Returns an earlier block of the same variable, iteration and source, which is no longer held.
  std::optional<HeldBlock> add(const HeldBlock& block);
  // Notes that no actions of this iteration need the blocks of `source`. Returns the blocks that are no longer held.
  std::vector<HeldBlock> end(int source, int64_t iteration);
  // Releases the blocks of that iteration and returns them.
  std::vector<HeldBlock> drop(int source, int64_t iteration);
  // Returns true if a block of that iteration is held only for later iterations.
  bool is_over(int source, int64_t iteration) const;
  // Returns the oldest iteration of which a block of `source` is held.
  std::optional<int64_t> oldest(int source) const;
  // Removes a client and returns all of its blocks, which are no longer held.
  std::vector<HeldBlock> leave(int source);

  // Returns the blocks for an action that `sources` raised in `iteration`: those of that iteration, and of as many
  // earlier iterations as `keep` says. Sorted by variable, then iteration, then source.
  std::vector<HeldBlock> of(int64_t iteration, std::span<const int32_t> sources) const;

  size_t size() const;

 private:
  struct Held {
    HeldBlock block;
    bool ended = false;
  };

  std::vector<uint32_t> keep_;  // one per variable; constant
  // ⟨source, variable⟩ → iteration → block
  std::map<std::pair<int, uint32_t>, std::map<int64_t, Held>> held_;
};

}  // namespace tailrace::impl
