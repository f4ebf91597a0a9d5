// Heap or data segment. See the header.
#include "lab/pattern/compute/arena.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

#include "lab/pattern/errors.hpp"

namespace bench {
namespace {

// Large enough for the largest kernel, which is `triad`.
constexpr size_t kSegment = size_t{256} << 20;
constexpr size_t kPage = 4096;

alignas(kPage) std::array<std::byte, kSegment> segment;
std::atomic<bool> segment_in_use = false;

}  // namespace

Arena::Arena(Memory memory, size_t bytes) : memory_(memory), size_((bytes + kPage - 1) / kPage * kPage) {
  if (memory_ == Memory::heap) {
    data_ = static_cast<std::byte*>(std::aligned_alloc(kPage, size_));
    if (data_ == nullptr) throw std::bad_alloc();
    return;
  }
  if (size_ > kSegment) throw UsageError("static memory: this kernel needs more than there is");
  if (segment_in_use.exchange(true)) throw UsageError("static memory: another kernel of this process has it");
  data_ = segment.data();
}

Arena::~Arena() {
  if (memory_ == Memory::heap) {
    std::free(data_);
  } else {
    segment_in_use = false;
  }
}

void* Arena::take_bytes(size_t bytes) {
  const size_t rounded = bytes_for<std::byte>(bytes);
  if (rounded > size_ - used_) throw std::logic_error("a kernel takes more memory than it asked for");
  void* const taken = data_ + used_;
  used_ += rounded;
  return taken;
}

}  // namespace bench
