#include "base/memory/stream_copy.hpp"

#include <cstdint>
#include <cstring>

#include "base/assert.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tailrace::impl {
namespace {

constexpr size_t kLine = 64;

#if defined(__SSE2__)
constexpr size_t kPage = 4096;
constexpr size_t kPages = 4;   // copied side by side
constexpr size_t kStep = 256;  // bytes of each page in turn

// `bytes` is a multiple of the line.
void stream_run(std::byte* to, const std::byte* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from + at);
    auto* target = reinterpret_cast<__m128i*>(to + at);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    // Writes a whole line at once, so that it leaves the cpu in one piece.
    _mm_stream_si128(target, first);
    _mm_stream_si128(target + 1, second);
    _mm_stream_si128(target + 2, third);
    _mm_stream_si128(target + 3, fourth);
  }
}

// Copies several pages side by side: memory serves them in parallel, which hides the wait for the next page's
// address. Each step prefetches the next one; a prefetch behind the source's end has no effect.
void stream_pages(std::byte* to, const std::byte* from) {
  for (size_t step = 0; step < kPage; step += kStep) {
    for (size_t at = step; at < kPages * kPage; at += kPage) {
      for (size_t line = 0; line < kStep; line += kLine) {
        _mm_prefetch(reinterpret_cast<const char*>(from + at + kStep + line), _MM_HINT_T0);
      }
      stream_run(to + at, from + at, kStep);
    }
  }
}

// `bytes` is a multiple of the line.
void stream_lines(std::byte* to, const std::byte* from, size_t bytes, CopyOrder order) {
  const size_t group = kPages * kPage;
  const size_t pages = order == CopyOrder::pages ? bytes / group * group : 0;
  for (size_t at = 0; at < pages; at += group) stream_pages(to + at, from + at);
  stream_run(to + pages, from + pages, bytes - pages);
  // A release does not order non-temporal stores: without the fence, the reader of the ring could see a block before
  // its bytes.
  _mm_sfence();
}
#else
void stream_lines(std::byte* to, const std::byte* from, size_t bytes, CopyOrder) { std::memcpy(to, from, bytes); }
#endif

}  // namespace

// Measured (docs/decisions/007); AMD's processors seem to fetch ahead across the end of a page, where others stop.
CopyOrder order_here() {
#if defined(__SSE2__)
  static const CopyOrder order = __builtin_cpu_is("amd") ? CopyOrder::lines : CopyOrder::pages;
  return order;
#else
  return CopyOrder::lines;
#endif
}

void stream_copy(std::byte* to, const std::byte* from, size_t bytes, CopyOrder order) {
  TAILRACE_REQUIRE(reinterpret_cast<uintptr_t>(to) % kLine == 0);
  const size_t lines = bytes < kStreamFrom ? 0 : bytes / kLine * kLine;
  if (lines > 0) stream_lines(to, from, lines, order);
  std::memcpy(to + lines, from + lines, bytes - lines);
}

}  // namespace tailrace::impl
