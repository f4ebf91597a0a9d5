// The active messages of UCX that the transport's messages travel in.
//
// A head that fits goes as the header of an active message, and the bulk data as its data. A longer head goes as the
// data of a message of its own, and the two are joined by their number. Byte order is the sender's: a peer of the
// other byte order fails at `magic`. The receiver trusts none of it unchecked; transport/secure authenticates heads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tailrace::impl {

// The ids of active messages.
enum class Message : uint16_t {
  welcome = 1,  // the listener's first; header: WelcomeWire. Only now the other side knows that it is connected
  whole = 2,    // header: the head; data: the bulk data, if any
  head = 3,     // header: SplitWire; data: the head
  bulk = 4      // header: SplitWire; data: the bulk data of the message whose head has the same number
};

struct WelcomeWire {
  static constexpr uint32_t kMagic = 0x7465'6e75;
  static constexpr uint32_t kVersion = 1;

  uint32_t magic = kMagic;
  uint32_t version = kVersion;
};
static_assert(offsetof(WelcomeWire, magic) == 0);
static_assert(offsetof(WelcomeWire, version) == 4);
static_assert(sizeof(WelcomeWire) == 8);
static_assert(std::is_trivially_copyable_v<WelcomeWire>);

struct SplitWire {
  uint64_t number = 0;  // 1, 2, 3, … per connection and direction
  uint64_t bulk = 0;    // bytes; 0: no message Message::bulk follows
};
static_assert(offsetof(SplitWire, number) == 0);
static_assert(offsetof(SplitWire, bulk) == 8);
static_assert(sizeof(SplitWire) == 16);
static_assert(std::is_trivially_copyable_v<SplitWire>);

}  // namespace tailrace::impl
