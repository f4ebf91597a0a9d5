// KeptBlocks: which blocks are held in memory for actions, and which may go.
//
// A block is held from when it was handed over until the actions of its iteration have ended, and, if its variable
// says `keep: k`, until k later iterations of its source have ended. Pure book-keeping on the server's thread: the
// caller owns the memory and counts who else needs it (the storage).
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
  explicit KeptBlocks(const Config& config);

  // Holds the block. Returns an earlier one of the same variable, iteration and source, which is not held any more.
  std::optional<HeldBlock> add(const HeldBlock& block);
  // No more actions of this iteration will need the blocks of `source`. Returns those that are not held any more.
  std::vector<HeldBlock> end(int source, int64_t iteration);
  // Gives up the blocks of that iteration; returns them.
  std::vector<HeldBlock> drop(int source, int64_t iteration);
  // Returns true if a block of that iteration is held, although no action of the iteration itself will need it.
  bool is_over(int source, int64_t iteration) const;
  // The oldest iteration of which a block of `source` is held.
  std::optional<int64_t> oldest(int source) const;
  // The client is gone: returns all of its blocks, none of which is held any more.
  std::vector<HeldBlock> leave(int source);

  // Returns the blocks for an action that was raised in `iteration` by `sources`: those of that iteration, and of as
  // many iterations before it as are to be kept. Sorted by variable, then iteration, then source.
  std::vector<HeldBlock> of(int64_t iteration, std::span<const int32_t> sources) const;

  size_t size() const;

 private:
  struct Held {
    HeldBlock block;
    bool ended = false;
  };

  std::vector<uint32_t> keep_;  // a variable each; constant
  // ⟨source, variable⟩ → iteration → block
  std::map<std::pair<int, uint32_t>, std::map<int64_t, Held>> held_;
};

}  // namespace tailrace::impl
