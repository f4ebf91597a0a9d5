#include "mpiio/pending/byte_pattern.hpp"

#include <algorithm>

#include "process_client/bytes/extents.hpp"

namespace tailrace::mpiio {
namespace {

constexpr uint64_t kMostCompared = 4096;  // blocks of one pattern with the other

// Adds the extent to the pattern if that stays regular.
bool extend(BytePattern& pattern, const tailrace_extent& extent) {
  const uint64_t last = pattern.begin + (pattern.count - 1) * pattern.step;
  if (pattern.count == 1 && extent.offset == pattern.end()) {
    pattern.length += extent.length;
    return true;
  }
  if (extent.length != pattern.length || extent.offset < last + pattern.length) return false;
  if (pattern.count > 1 && extent.offset - last != pattern.step) return false;
  pattern.step = extent.offset - last;
  ++pattern.count;
  return true;
}

// Returns true if the pattern has one of the bytes from `begin` to `end`.
bool touches(const BytePattern& pattern, uint64_t begin, uint64_t end) {
  if (end <= pattern.begin || begin >= pattern.end()) return false;
  if (pattern.count == 1 || begin <= pattern.begin) return true;
  const uint64_t block = (begin - pattern.begin) / pattern.step;  // the last one that does not begin behind `begin`
  const uint64_t at = pattern.begin + block * pattern.step;
  if (begin < at + pattern.length) return true;
  return block + 1 < pattern.count && end > at + pattern.step;
}

}  // namespace

std::vector<BytePattern> patterns_of(std::span<const tailrace_extent> extents, size_t most) {
  std::vector<BytePattern> patterns;
  for (const tailrace_extent& extent : extents) {
    if (!patterns.empty() && extend(patterns.back(), extent)) continue;
    if (patterns.size() == most) {
      const tailrace_extent bounds = process::bounds_of(extents);
      return {{bounds.offset, bounds.length, 0, 1}};
    }
    patterns.push_back({extent.offset, extent.length, 0, 1});
  }
  return patterns;
}

std::optional<BytePattern> join(const BytePattern& first, const BytePattern& next, bool hull) {
  if (first == next) return first;
  if (first.count == 1 && next.count == 1) {
    if (!hull && first.end() != next.begin) return std::nullopt;
    const uint64_t begin = std::min(first.begin, next.begin);
    return BytePattern{begin, std::max(first.end(), next.end()) - begin, 0, 1};
  }
  const uint64_t step = first.count > 1 ? first.step : next.step;
  const bool same = first.length == next.length && (next.count == 1 || next.step == step);
  if (!same || next.begin != first.begin + first.count * step) return std::nullopt;
  return BytePattern{first.begin, first.length, step, first.count + next.count};
}

bool touch(const BytePattern& one, const BytePattern& other) {
  const uint64_t begin = std::max(one.begin, other.begin);
  const uint64_t end = std::min(one.end(), other.end());
  if (begin >= end) return false;
  if (other.count == 1) return touches(one, other.begin, other.end());
  if (one.count == 1) return touches(other, one.begin, one.end());
  if (one.step == other.step) {
    // Where both have blocks, those of one lie at the same place between those of the other.
    const BytePattern& early = one.begin <= other.begin ? one : other;
    const BytePattern& late = one.begin <= other.begin ? other : one;
    const uint64_t behind = (late.begin - early.begin) % one.step;
    if (behind >= early.length && behind + late.length <= one.step) return false;
  }
  const BytePattern& few = one.count <= other.count ? one : other;
  const BytePattern& many = one.count <= other.count ? other : one;
  uint64_t block = begin > few.begin ? (begin - few.begin) / few.step : 0;
  for (uint64_t compared = 0; block < few.count; ++block) {
    const uint64_t at = few.begin + block * few.step;
    if (at >= end) return false;
    if (touches(many, at, at + few.length) || ++compared == kMostCompared) return true;
  }
  return false;
}

}  // namespace tailrace::mpiio
