#include "engine/execute/write_behind.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

Extent around(const Extent& one, const Extent& other) {
  const uint64_t begin = std::min(one.offset, other.offset);
  return {begin, std::max(one.end(), other.end()) - begin};
}

}  // namespace

void WriteBehind::note(FileHandle file, const Extent& written, Nanoseconds now) {
  const auto [found, is_first] = files_.try_emplace(file);
  Dirty& dirty = found->second;
  if (is_first) dirty.since = now;
  const Extent both = dirty.bytes > 0 ? around(dirty.range, written) : written;
  const uint64_t bytes = dirty.bytes + written.length;
  const bool near = both.length <= kLargest || both.length / kSparsest <= bytes;
  dirty.range = near ? both : written;
  dirty.bytes = near ? bytes : written.length;
  list_if_due(file, dirty);
}

void WriteBehind::list_if_due(FileHandle file, Dirty& dirty) {
  if (!is_due(dirty) || std::exchange(dirty.listed, true)) return;
  due_.push_back(file);
}

std::optional<WriteBehind::Next> WriteBehind::next(Nanoseconds now, bool computing) {
  for (size_t at = under_way_ < kAtOnce ? due_.size() : 0; at-- > 0;) {
    const FileHandle file = due_[at];
    const auto found = files_.find(file);
    const bool is_here = found != files_.end();
    if (is_here && is_due(found->second) && !may_begin(found->second, now, computing)) continue;  // later
    due_[at] = due_.back();
    due_.pop_back();
    if (!is_here) continue;
    Dirty& dirty = found->second;
    dirty.listed = false;
    if (!is_due(dirty)) continue;
    dirty.lasts = true;
    const Extent first{dirty.range.offset, std::min(dirty.range.length, kLargest)};
    dirty.range = {first.end(), dirty.range.length - first.length};
    dirty.bytes = dirty.range.length == 0 ? 0 : dirty.bytes - std::min(dirty.bytes, first.length);
    dirty.under_way = true;
    ++under_way_;
    return Next{file, first};
  }
  return std::nullopt;
}

void WriteBehind::ended(FileHandle file) {
  const auto found = files_.find(file);
  TAILRACE_ASSERT(found != files_.end());
  Dirty& dirty = found->second;
  TAILRACE_ASSERT(dirty.under_way);
  dirty.under_way = false;
  --under_way_;
  if (!dirty.then) return list_if_due(file, dirty);
  const std::function<void()> then = std::move(dirty.then);
  files_.erase(found);
  then();
}

void WriteBehind::forget(FileHandle file, std::function<void()> then) {
  const auto found = files_.find(file);
  if (found == files_.end()) return then();
  if (found->second.under_way) {
    found->second.then = std::move(then);
    return;
  }
  files_.erase(found);
  then();
}

}  // namespace tailrace::impl
