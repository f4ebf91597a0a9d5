// BlockPool: blocks of one size, from one piece of memory, each on pages of its own. A block begins as far behind the
// begin of a page as its place in the file does, so that its pages can go to the device without a copy.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace tailrace::cube {

// One thread at a time uses it.
class BlockPool {
 public:
  BlockPool(size_t block_bytes, size_t blocks)
      : stride_((block_bytes + kPage - 1) / kPage * kPage + kPage), bytes_(stride_ * blocks) {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, bytes_, MADV_HUGEPAGE);
    memory_ = static_cast<std::byte*>(memory);
    for (size_t block = blocks; block > 0; --block) free_.push_back(memory_ + (block - 1) * stride_);
  }
  ~BlockPool() { munmap(memory_, bytes_); }
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  bool empty() const { return free_.empty(); }
  // Returns the block that was returned last, which the caches may still have.
  std::byte* take(uint64_t offset) {
    std::byte* const block = free_.back() + offset % kPage;
    free_.pop_back();
    return block;
  }
  void give_back(std::byte* block) {
    const auto number = static_cast<size_t>(block - memory_) / stride_;
    free_.push_back(memory_ + number * stride_);
  }

 private:
  static constexpr size_t kPage = 4096;

  const size_t stride_;
  const size_t bytes_;
  std::byte* memory_ = nullptr;
  std::vector<std::byte*> free_;
};

}  // namespace tailrace::cube
