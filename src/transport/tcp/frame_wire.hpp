// Frames: what two ends of a connection over TCP send each other, inside TLS. Bytes shared between nodes: fixed
// width, little-endian; kProtocol names their version.
//
// A message without bulk data, or with few, is one frame. Else its head goes alone, and the bulk data wait at the
// sender until the receiver asks for them (fetch) or does not want them (refuse). They come in pieces of kMostPiece
// bytes, the last one with the rest, so that heads need not wait behind long bulk data.
//
// Pieces go by any connection of the peer, in any order; all other frames of messages go by its first one. Further
// ones are made by the caller: the listener tells it a secret (invite), which a further connection repeats in
// its first frame (join); once the listener has answered (joined), it carries pieces both ways.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tailrace::impl {

static_assert(std::endian::native == std::endian::little, "the numbers of a frame are little-endian");

// The application protocols that TLS agrees on (ALPN), of a peer's first connection and of further ones: both ends
// must name the same.
constexpr char kProtocol[] = "tailrace-2";
constexpr char kFurtherProtocol[] = "tailrace-2-further";

enum class FrameKind : uint32_t {
  message = 1,  // `head` bytes follow; `bulk` bytes wait at the sender, under `number` if there are any
  whole = 2,    // `head` bytes, then `bulk` bytes follow
  fetch = 3,    // the bulk data of the message `number` are wanted
  refuse = 4,   // they are not
  bulk = 5,     // the piece `head`, from 0, of the bulk data of the message `number`: its `bulk` bytes follow
  invite = 6,   // `bulk` further connections may join the peer `number`; its secret follows, `head` bytes
  join = 7,     // this connection is one of the peer `number`; its secret follows, `head` bytes
  joined = 8,   // it is
  beat = 9      // nothing: this further connection is there
};

struct FrameHead {
  FrameKind kind = FrameKind::message;
  uint32_t head = 0;    // bytes; of bulk data: the number of a piece
  uint64_t bulk = 0;    // bytes
  uint64_t number = 0;  // 1, 2, 3, … per peer and direction, of messages whose bulk data wait
};
static_assert(sizeof(FrameHead) == 24);
static_assert(offsetof(FrameHead, head) == 4);
static_assert(offsetof(FrameHead, bulk) == 8);
static_assert(offsetof(FrameHead, number) == 16);
static_assert(std::is_trivially_copyable_v<FrameHead>);

constexpr size_t kMostPiece = size_t{256} << 10;  // bytes of a piece of bulk data

// By which a listener knows that a connection belongs to a peer. Random; known to the two ends of the first one.
using JoinSecret = std::array<std::byte, 16>;

}  // namespace tailrace::impl
