// Buffers, stamps and /proc/self. See the header.
#include "lab/pattern/memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <string>

namespace bench {
namespace {

constexpr uint64_t kHuge = uint64_t{2} << 20;
constexpr uint64_t kPage = 4096;
constexpr uint64_t kOff = 24;  // divides neither a cache line nor a page

uint64_t rounded(uint64_t bytes) {
  const uint64_t unit = bytes < kHuge ? kPage : kHuge;
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Buffer::Buffer(uint64_t bytes, Start start)
    : held_(rounded(bytes + (start == Start::page ? 0 : kOff))),
      memory_(static_cast<char*>(std::aligned_alloc(held_ < kHuge ? kPage : kHuge, held_))),
      data_(memory_.get()) {
  if (data_ == nullptr) throw std::bad_alloc();
  madvise(data_, held_, MADV_HUGEPAGE);
  std::memset(data_, 1, held_);
  if (start == Start::off_any_line) data_ += kOff;
}

void Buffer::Free::operator()(char* memory) const { std::free(memory); }
void MallocFree::operator()(char* memory) const { std::free(memory); }

MallocBuffer new_malloc_buffer(uint64_t bytes) {
  MallocBuffer buffer(static_cast<char*>(std::malloc(bytes)));
  if (buffer == nullptr) throw std::bad_alloc();
  return buffer;
}

void touch(char* memory, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += kPage) static_cast<volatile char*>(memory)[at] = 1;
  static_cast<volatile char*>(memory)[bytes - 1] = 1;
}

bool stamp_at(uint64_t bytes, uint64_t index, uint64_t* offset) {
  const uint64_t count = std::min(kStamps, bytes / sizeof(Stamp));
  if (index >= count) return false;
  *offset = index + 1 == count ? bytes - sizeof(Stamp) : bytes / count * index;  // the last one is at the end of the
                                                                                 // block
  return true;
}

void stamp(char* block, uint64_t bytes, const Stamp& stamp) {
  uint64_t offset = 0;
  for (uint64_t index = 0; stamp_at(bytes, index, &offset); ++index) {
    std::memcpy(block + offset, &stamp, sizeof stamp);
  }
}

uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return 1024 * std::stoull(line.substr(6));
  }
  return 0;
}

void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace bench
