// operator new for the simulator: larger blocks always lie 16 bytes into a page.
//
// The position of a block within a page decides whether its transfers can bypass the page cache. The heap's choice
// depends on all earlier allocations, but a seed's run must not. A sanitizer has its own heap, so this is not used
// then.
#if !defined(__SANITIZE_ADDRESS__)

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kShift = 16;
constexpr size_t kLarge = 256;  // smaller ones never bypass the page cache

bool is_shifted(void* memory) { return reinterpret_cast<uintptr_t>(memory) % kPage == kShift; }

void* allocate(size_t size) {
  if (size >= kLarge) {
    void* const pages = std::aligned_alloc(kPage, (size + kShift + kPage - 1) / kPage * kPage);
    return pages == nullptr ? nullptr : static_cast<char*>(pages) + kShift;
  }
  // A small block must not look like a large one.
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr || !is_shifted(memory)) return memory;
  void* const other = allocate(size);
  std::free(memory);
  return other;
}

void release(void* memory) { std::free(is_shifted(memory) ? static_cast<char*>(memory) - kShift : memory); }

}  // namespace

void* operator new(size_t size) {
  if (void* const memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t) noexcept { release(memory); }

#endif
