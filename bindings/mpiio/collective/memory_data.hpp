// MemoryData, MemorySpace: the data that a process passes to a write, or its memory for those of a read: where they
// lie in its memory, and in the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "collective/contribution.hpp"
#include "collective/read/own_space.hpp"
#include "collective/write/own_data.hpp"
#include "mpiio/types/flat_type.hpp"
#include "mpiio/types/view.hpp"

namespace tailrace::mpiio {

// MemoryPlaces: the places of either. Port: collective::OwnData or OwnSpace. Byte: of the memory.
template <class Port, class Byte>
class MemoryPlaces : public Port {
 public:
  // `bytes` of data at `memory`, which lie there as copies of `type`; they follow one another if it is null. In the
  // file, they are the data of the view from its byte `begin` on.
  MemoryPlaces(View view, uint64_t begin, Byte* memory, uint64_t bytes, std::shared_ptr<const FlatType> type)
      : view_(std::move(view)), begin_(begin), memory_(memory), bytes_(bytes), type_(std::move(type)) {}

  uint64_t bytes() const { return bytes_; }
  // Returns true if the data are one piece in memory and in the file.
  bool is_plain() const { return type_ == nullptr && view_.is_contiguous(); }
  // Returns where the byte `begin` is in memory, and all behind it follow; null if they do not.
  Byte* plain(uint64_t begin) const { return type_ == nullptr ? memory_ + begin : nullptr; }
  collective::Contribution contribution() const {
    if (bytes_ == 0) return {};
    const tailrace_extent first = view_.find(begin_, 1)[0];
    const tailrace_extent last = view_.find(begin_ + bytes_ - 1, 1)[0];
    return {first.offset, last.offset + 1, bytes_, view_.pieces(bytes_)};
  }

  uint64_t below(uint64_t offset) const override {
    const uint64_t in_view = view_.below(offset);
    return in_view <= begin_ ? 0 : std::min(in_view - begin_, bytes_);
  }
  void find(uint64_t begin, uint64_t length, std::vector<tailrace_extent>& out) const override {
    const std::vector<tailrace_extent> found = view_.find(begin_ + begin, length);
    out.insert(out.end(), found.begin(), found.end());
  }

 protected:
  Byte* memory() const { return memory_; }
  const FlatType* type() const { return type_.get(); }

 private:
  View view_;
  uint64_t begin_;
  Byte* memory_;
  uint64_t bytes_;
  std::shared_ptr<const FlatType> type_;
};

class MemoryData : public MemoryPlaces<collective::OwnData, const std::byte> {
 public:
  using MemoryPlaces::MemoryPlaces;

  void copy(uint64_t begin, uint64_t length, std::byte* out) const override {
    if (length == 0) return;
    if (type() == nullptr) {
      std::memcpy(out, memory() + begin, length);
    } else {
      type()->gather(memory(), begin, length, out);
    }
  }
};

class MemorySpace : public MemoryPlaces<collective::OwnSpace, std::byte> {
 public:
  using MemoryPlaces::MemoryPlaces;

  void store(uint64_t begin, uint64_t length, const std::byte* from) override {
    if (length == 0) return;
    if (type() == nullptr) {
      std::memcpy(memory() + begin, from, length);
    } else {
      type()->scatter(from, begin, length, memory());
    }
  }
};

}  // namespace tailrace::mpiio
