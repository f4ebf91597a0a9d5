// ListData, ListSpace: a process's data as a list of extents, with bytes of one value or of any values, or with
// memory for them.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "collective/read/own_space.hpp"
#include "collective/write/own_data.hpp"

namespace test {

// ListPlaces: the extents of either. Port: OwnData or OwnSpace.
template <class Port>
class ListPlaces : public Port {
 public:
  explicit ListPlaces(std::vector<tailrace_extent> extents) : extents_(std::move(extents)) {}

  const std::vector<tailrace_extent>& extents() const { return extents_; }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const tailrace_extent& extent : extents_) sum += extent.length;
    return sum;
  }
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

 private:
  std::vector<tailrace_extent> extents_;
};

class ListData : public ListPlaces<tailrace::collective::OwnData> {
 public:
  ListData(std::vector<tailrace_extent> extents, char value)
      : ListPlaces(std::move(extents)), memory_(bytes(), std::byte(value)) {}
  ListData(std::vector<tailrace_extent> extents, std::vector<std::byte> memory)
      : ListPlaces(std::move(extents)), memory_(std::move(memory)) {}

  void copy(uint64_t begin, uint64_t length, std::byte* out) const override {
    if (length > 0) std::memcpy(out, memory_.data() + begin, length);
  }

 private:
  std::vector<std::byte> memory_;
};

class ListSpace : public ListPlaces<tailrace::collective::OwnSpace> {
 public:
  explicit ListSpace(std::vector<tailrace_extent> extents) : ListPlaces(std::move(extents)), memory(bytes()) {}

  void store(uint64_t begin, uint64_t length, const std::byte* from) override {
    std::copy_n(from, length, memory.begin() + static_cast<std::ptrdiff_t>(begin));
  }

  std::vector<std::byte> memory;
};

}  // namespace test
