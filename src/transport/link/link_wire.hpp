// The head of every message on a link, before its body. Bytes shared between nodes: fixed width, little-endian,
// versioned by the handshake. A message of a head alone is a beat.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tailrace::impl {

static_assert(std::endian::native == std::endian::little, "the numbers of a message are little-endian");

// Both are times of one clock, in nanoseconds, so the clocks of two nodes are never compared.
struct LinkHead {
  int64_t stamp = 0;  // when the message was sent, by the sender's clock
  int64_t echo = 0;   // the latest stamp that the sender has had from its peer; 0: none
};
static_assert(sizeof(LinkHead) == 16);
static_assert(offsetof(LinkHead, echo) == 8);
static_assert(std::is_trivially_copyable_v<LinkHead>);

}  // namespace tailrace::impl
