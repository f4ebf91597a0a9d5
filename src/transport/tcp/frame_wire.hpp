// Frames: what two ends of a connection over TCP send each other, inside TLS. Bytes shared between nodes: fixed
// width, little-endian; kProtocol names their version.
//
// A message without bulk data, or with few, is one frame. Else its head goes alone, and the bulk data wait at the
// sender until the receiver asks for them (fetch) or does not want them (refuse). They come in frames of kMostPiece
// bytes, so that heads need not wait behind long bulk data.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tailrace::impl {

static_assert(std::endian::native == std::endian::little, "the numbers of a frame are little-endian");

// The application protocol that TLS agrees on (ALPN): both ends must name the same.
constexpr char kProtocol[] = "tailrace-1";

enum class FrameKind : uint32_t {
  message = 1,  // `head` bytes follow; `bulk` bytes wait at the sender, under `number` if there are any
  whole = 2,    // `head` bytes, then `bulk` bytes follow
  fetch = 3,    // the bulk data of the message `number` are wanted
  refuse = 4,   // they are not
  bulk = 5      // the next `bulk` bytes of the message `number` follow
};

struct FrameHead {
  FrameKind kind = FrameKind::message;
  uint32_t head = 0;    // bytes
  uint64_t bulk = 0;    // bytes
  uint64_t number = 0;  // 1, 2, 3, … per connection and direction, of messages whose bulk data wait
};
static_assert(sizeof(FrameHead) == 24);
static_assert(offsetof(FrameHead, head) == 4);
static_assert(offsetof(FrameHead, bulk) == 8);
static_assert(offsetof(FrameHead, number) == 16);
static_assert(std::is_trivially_copyable_v<FrameHead>);

constexpr size_t kMostPiece = size_t{256} << 10;  // bytes of a frame of bulk data

}  // namespace tailrace::impl
