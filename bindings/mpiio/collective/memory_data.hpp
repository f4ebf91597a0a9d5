// MemoryData: the data that a process passes to a write: where they lie in its memory, and in the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "collective/contribution.hpp"
#include "collective/own_data.hpp"
#include "mpiio/types/flat_type.hpp"
#include "mpiio/types/view.hpp"

namespace tailrace::mpiio {

class MemoryData : public collective::OwnData {
 public:
  // `bytes` of data at `memory`, which lie there as copies of `type`; they follow one another if it is null. In the
  // file, they are the data of the view from its byte `begin` on.
  MemoryData(View view, uint64_t begin, const std::byte* memory, uint64_t bytes, std::shared_ptr<const FlatType> type)
      : view_(std::move(view)), begin_(begin), memory_(memory), bytes_(bytes), type_(std::move(type)) {}

  uint64_t bytes() const { return bytes_; }
  // Returns true if the data follow one another in memory.
  bool is_plain() const { return type_ == nullptr; }
  // Returns where the byte `begin` is in memory, and all behind it follow; null if they do not.
  const std::byte* plain(uint64_t begin) const { return type_ == nullptr ? memory_ + begin : nullptr; }
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
  void copy(uint64_t begin, uint64_t length, std::byte* out) const override {
    if (length == 0) return;
    if (type_ == nullptr) {
      std::memcpy(out, memory_ + begin, length);
    } else {
      type_->gather(memory_, begin, length, out);
    }
  }

 private:
  View view_;
  uint64_t begin_;
  const std::byte* memory_;
  uint64_t bytes_;
  std::shared_ptr<const FlatType> type_;
};

}  // namespace tailrace::mpiio
