#include "hdf5_vol/host/move.hpp"

#include <algorithm>
#include <cstring>

namespace tailrace::hdf5 {
namespace {

// Bytes that are gathered and converted at once, so that a write of any size needs little memory beside the pool.
constexpr uint64_t kPart = uint64_t{4} << 20;

}  // namespace

Parts::Parts(const Host& host, const Move& move, size_t element, uint64_t base)
    : move_(move),
      host_(host),
      at_once_(std::min(move.elements, std::max<uint64_t>(kPart / std::max(element, move.memory_element), 1))),
      bytes_(at_once_ * std::max(element, move.memory_element)),
      base_(base),
      file_(host, move.file_space, element) {
  if (move.memory_space != H5S_ALL) memory_.emplace(host_, move.memory_space, move.memory_element);
}

bool Parts::next() {
  done_ += count_;
  count_ = std::min(at_once_, move_.elements - done_);
  if (count_ == 0) return false;
  in_memory_.clear();
  in_file_.clear();
  if (!memory_) in_memory_.push_back({done_ * move_.memory_element, count_ * move_.memory_element});
  failed_ = (memory_ && !memory_->next(count_, 0, in_memory_)) || !file_.next(count_, base_, in_file_);
  return !failed_;
}

void Parts::gather(const std::byte* data) {
  std::byte* to = bytes_.data();
  for (const tailrace_extent& run : in_memory_) {
    std::memcpy(to, data + run.offset, run.length);
    to += run.length;
  }
}

void Parts::scatter(std::byte* data) const {
  const std::byte* from = bytes_.data();
  for (const tailrace_extent& run : in_memory_) {
    std::memcpy(data + run.offset, from, run.length);
    from += run.length;
  }
}

bool Parts::convert(hid_t from, hid_t to, hid_t transfer) {
  return !move_.converts || host_.H5Tconvert(from, to, count_, bytes_.data(), nullptr, transfer) >= 0;
}

}  // namespace tailrace::hdf5
