#include "base/stream_copy.hpp"

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
// `bytes` is a multiple of the line.
void stream_lines(std::byte* to, const std::byte* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from + at);
    auto* target = reinterpret_cast<__m128i*>(to + at);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    // A whole line one after the other, so that it leaves in one piece.
    _mm_stream_si128(target, first);
    _mm_stream_si128(target + 1, second);
    _mm_stream_si128(target + 2, third);
    _mm_stream_si128(target + 3, fourth);
  }
  // Non-temporal stores are not ordered by a release: without this the reader of the ring could be told of bytes
  // that are still on their way.
  _mm_sfence();
}
#else
void stream_lines(std::byte* to, const std::byte* from, size_t bytes) { std::memcpy(to, from, bytes); }
#endif

}  // namespace

void stream_copy(std::byte* to, const std::byte* from, size_t bytes) {
  TAILRACE_REQUIRE(reinterpret_cast<uintptr_t>(to) % kLine == 0);
  const size_t lines = bytes < kStreamFrom ? 0 : bytes / kLine * kLine;
  if (lines > 0) stream_lines(to, from, lines);
  std::memcpy(to + lines, from + lines, bytes - lines);
}

}  // namespace tailrace::impl
