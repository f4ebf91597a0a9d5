// The first message of each end of a link, and the head of every later one, before its body. Bytes shared between
// nodes: fixed width, little-endian. A later message of a head alone is a beat.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tailrace::impl {

static_assert(std::endian::native == std::endian::little, "the numbers of a message are little-endian");

// Facts that an end tells the other one, such as its name and its limits. Links do not read them.
using Terms = std::array<std::byte, 64>;

struct LinkGreeting {
  static constexpr uint32_t kMagic = 0x6b6e'696c;

  uint32_t magic = kMagic;
  uint16_t version = 0;  // of the messages: both ends must have the same
  uint16_t zero = 0;
  Terms terms = {};
};
static_assert(sizeof(LinkGreeting) == 72);
static_assert(offsetof(LinkGreeting, version) == 4);
static_assert(offsetof(LinkGreeting, terms) == 8);
static_assert(std::is_trivially_copyable_v<LinkGreeting>);

// Both are times of one clock, in nanoseconds, so the clocks of two nodes are never compared.
struct LinkHead {
  int64_t stamp = 0;  // when the message was sent, by the sender's clock
  int64_t echo = 0;   // the latest stamp that the sender has had from its peer; 0: none
};
static_assert(sizeof(LinkHead) == 16);
static_assert(offsetof(LinkHead, echo) == 8);
static_assert(std::is_trivially_copyable_v<LinkHead>);

}  // namespace tailrace::impl
