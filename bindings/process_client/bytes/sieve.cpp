#include "process_client/bytes/sieve.hpp"

#include <algorithm>
#include <cstring>

#include "process_client/bytes/extents.hpp"

namespace tailrace::process {

const std::byte* Sieve::find(const tailrace_extent& bytes) {
  if (bytes.offset < held_.offset || end_of(bytes) > end_of(held_)) return nullptr;
  next_ = end_of(bytes);
  return room_.get() + (bytes.offset - held_.offset);
}

// Wants twice as much each time, so that little is read in vain if the program soon stops, or if the sieve is
// forgotten again and again. A read follows the one before if it leaves out at most four times what it reads.
std::optional<tailrace_extent> Sieve::wanted(const tailrace_extent& bytes, uint64_t end) {
  const bool first = next_ == 0;
  const bool follows = !first && bytes.offset >= next_ && bytes.offset - next_ <= 4 * bytes.length;
  next_ = end_of(bytes);
  if (first) return std::nullopt;
  ahead_ = follows ? std::min(2 * std::max(ahead_, bytes.length), kMost) : 0;
  return tailrace_extent{bytes.offset, std::max(std::min(ahead_, end - bytes.offset), bytes.length)};
}

std::byte* Sieve::room(uint64_t bytes) {
  held_ = {};
  if (size_ < bytes) {
    room_.reset(new std::byte[bytes]);
    size_ = bytes;
  }
  return room_.get();
}

void Sieve::overwrite(std::span<const tailrace_extent> extents, const std::byte* data) {
  for (const tailrace_extent& extent : extents) {
    const uint64_t begin = std::max(extent.offset, held_.offset);
    const uint64_t end = std::min(end_of(extent), end_of(held_));
    if (begin < end) {
      std::memcpy(room_.get() + (begin - held_.offset), data + (begin - extent.offset), end - begin);
    }
    data += extent.length;
  }
}

void Sieve::forget() {
  held_ = {};
  ahead_ = 0;
}

Sieve& Sieves::of(uint64_t dataset) {
  look_whether_forgotten();
  for (Of& of : all_) {
    if (of.dataset == dataset) return of.sieve;
  }
  if (all_.size() == kMost) all_.erase(all_.begin());
  all_.push_back({dataset, {}});
  return all_.back().sieve;
}

void Sieves::overwrite(std::span<const tailrace_extent> extents, const void* data) {
  for (Of& of : all_) of.sieve.overwrite(extents, static_cast<const std::byte*>(data));
}

void Sieves::forget() {
  for (Of& of : all_) of.sieve.forget();
}

void Sieves::forget(uint64_t dataset) {
  std::erase_if(all_, [dataset](const Of& of) { return of.dataset == dataset; });
}

void Sieves::look_whether_forgotten() {
  const uint64_t now = forgotten_.load(std::memory_order_relaxed);
  if (now == known_) return;
  known_ = now;
  forget();
}

}  // namespace tailrace::process
