#include "client/own_writes.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tailrace::impl {

uint32_t OwnWrites::opened(FileIdentity identity) {
  if (!identity.is_known()) return kUnknown;
  uint32_t& key = keys_[identity];
  if (key == kUnknown) {
    key = ++last_;
    files_[key].identity = identity;
  }
  ++files_[key].openings;
  return key;
}

void OwnWrites::closed(uint32_t file) {
  if (file == kUnknown || --files_.at(file).openings > 0) return;
  forget(file);
  keys_.erase(files_.at(file).identity);
  files_.erase(file);
}

void OwnWrites::sent(uint32_t file, uint32_t block, uint64_t sequence, std::span<const Extent> extents,
                     const std::byte* bytes) {
  if (sent_.size() <= block) sent_.resize(block + 1);
  forget_block(block);
  for (const Extent& extent : extents) {
    cut(file, extent);
    runs_[{file, extent.offset}] = {extent.end(), bytes, block, sequence};
    bytes += extent.length;
  }
  sent_[block].file = file;
  sent_[block].sequence = sequence;
  sent_[block].extents.assign(extents.begin(), extents.end());
}

bool OwnWrites::read(uint32_t file, std::span<const Extent> extents, std::byte* to, IsPending is_pending) const {
  for (const Extent& extent : extents) {
    auto at = runs_.upper_bound({file, extent.offset});
    if (at == runs_.begin()) return false;
    --at;
    for (uint64_t offset = extent.offset; offset < extent.end(); ++at) {
      if (at == runs_.end() || at->first.first != file || at->first.second > offset || at->second.end <= offset) {
        return false;
      }
      const Run& run = at->second;
      if (!is_pending(run.block, run.sequence)) return false;
      const uint64_t length = std::min(run.end, extent.end()) - offset;
      std::memcpy(to, run.bytes + (offset - at->first.second), length);
      to += length;
      offset += length;
    }
  }
  return true;
}

void OwnWrites::forget(uint32_t file) {
  runs_.erase(runs_.lower_bound({file, 0}), runs_.upper_bound({file, UINT64_MAX}));
}

// Returns the first run that ends after `offset`, in this file or a later one.
OwnWrites::Runs::iterator OwnWrites::first_after(uint32_t file, uint64_t offset) {
  auto at = runs_.upper_bound({file, offset});
  if (at == runs_.begin()) return at;
  const auto before = std::prev(at);
  return before->first.first == file && before->second.end > offset ? before : at;
}

// Forgets the runs within the extent.
void OwnWrites::cut(uint32_t file, const Extent& extent) {
  auto at = first_after(file, extent.offset);
  while (at != runs_.end() && at->first.first == file && at->first.second < extent.end()) {
    const uint64_t begin = at->first.second;
    const Run run = at->second;
    if (begin < extent.offset) {
      at->second.end = extent.offset;
      ++at;
    } else {
      at = runs_.erase(at);
    }
    if (run.end > extent.end()) {
      runs_[{file, extent.end()}] = {run.end, run.bytes + (extent.end() - begin), run.block, run.sequence};
      return;
    }
  }
}

// Forgets the block's bytes that no later write has replaced.
void OwnWrites::forget_block(uint32_t block) {
  Sent& was = sent_[block];
  for (const Extent& extent : was.extents) {
    auto at = first_after(was.file, extent.offset);
    while (at != runs_.end() && at->first.first == was.file && at->first.second < extent.end()) {
      const bool its = at->second.block == block && at->second.sequence == was.sequence;
      at = its ? runs_.erase(at) : std::next(at);
    }
  }
  was.extents.clear();
}

}  // namespace tailrace::impl
