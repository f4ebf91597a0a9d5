// ListData: a process's data as a list of extents and bytes of one value, or of any values.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "collective/own_data.hpp"

namespace test {

class ListData : public tailrace::collective::OwnData {
 public:
  ListData(std::vector<tailrace_extent> extents, char value) : extents_(std::move(extents)) {
    for (const tailrace_extent& extent : extents_) memory_.resize(memory_.size() + extent.length, std::byte(value));
  }
  ListData(std::vector<tailrace_extent> extents, std::vector<std::byte> memory)
      : extents_(std::move(extents)), memory_(std::move(memory)) {}

  uint64_t bytes() const { return memory_.size(); }
  const std::vector<tailrace_extent>& extents() const { return extents_; }

  uint64_t below(uint64_t offset) const override {
    uint64_t bytes = 0;
    for (const tailrace_extent& extent : extents_) {
      if (extent.offset < offset) bytes += std::min(extent.length, offset - extent.offset);
    }
    return bytes;
  }
  void find(uint64_t begin, uint64_t length, std::vector<tailrace_extent>& out) const override {
    uint64_t at = 0;
    for (const tailrace_extent& extent : extents_) {
      const uint64_t from = std::max(at, begin);
      const uint64_t to = std::min(at + extent.length, begin + length);
      if (from < to) out.push_back({extent.offset + from - at, to - from});
      at += extent.length;
    }
  }
  void copy(uint64_t begin, uint64_t length, std::byte* out) const override {
    if (length > 0) std::memcpy(out, memory_.data() + begin, length);
  }

 private:
  std::vector<tailrace_extent> extents_;
  std::vector<std::byte> memory_;
};

}  // namespace test
