// ByteRanges: a set of ranges of bytes of a file. Add ranges, and ask if a range touches any of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace tailrace::process {

class ByteRanges {
 public:
  void add(uint64_t begin, uint64_t end) {
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second >= begin) {
      --at;
      at->second = std::max(at->second, end);
    } else {
      at = ranges_.emplace_hint(at, begin, end);
    }
    for (auto next = std::next(at); next != ranges_.end() && next->first <= at->second;) {
      at->second = std::max(at->second, next->second);
      next = ranges_.erase(next);
    }
    if (ranges_.size() > kMost) forget_gaps();
  }

  // If there are many ranges, may return true for a range between two of them.
  bool touches(uint64_t begin, uint64_t end) const {
    const auto behind = ranges_.lower_bound(end);
    return behind != ranges_.begin() && std::prev(behind)->second > begin;
  }

  bool empty() const { return ranges_.empty(); }
  void clear() { ranges_.clear(); }

 private:
  static constexpr size_t kMost = 4096;

  void forget_gaps() {
    const uint64_t end = std::prev(ranges_.end())->second;
    ranges_.begin()->second = end;
    ranges_.erase(std::next(ranges_.begin()), ranges_.end());
  }

  std::map<uint64_t, uint64_t> ranges_;  // begin to end; no two ranges touch
};

}  // namespace tailrace::process
