// FrameWriter: what one connection sends: frames, one behind the other, and between them pieces of bulk data, so that
// frames need not wait for all of these. It encrypts from the owner's memory.
//
// One thread at a time, see Connection.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "transport/tcp/frame_wire.hpp"
#include "transport/tcp/tls.hpp"
#include "transport/tcp/transfers.hpp"

namespace tailrace::impl {

class FrameWriter {
 public:
  static constexpr size_t kMostAtOnce = size_t{1} << 20;  // bytes that one write() takes, about

  // Borrows the stream.
  explicit FrameWriter(TlsStream& stream) : stream_(stream) {}

  // Sends a frame; `tag`: of a send that ends with it. Copies all.
  void queue(const FrameHead& head, std::span<const std::byte> body = {}, std::span<const iovec> bulk = {},
             std::optional<uint64_t> tag = std::nullopt);
  // Sends a piece, whose memory is borrowed until take_went() has named it, or cut().
  void add(const Transfers::Piece& piece) { pieces_.push_back(piece); }
  size_t pieces() const { return pieces_.size(); }
  // Returns the bytes of frames that have not gone.
  uint64_t unsent() const { return unsent_; }

  // Sends what can be sent without waiting; when it has no pieces left, those that `dealer` has, if it is not null.
  // Returns true if there may be more to send at once.
  Result<bool> write(Transfers* dealer);

  // Return what has gone as a whole since the last call: tags of sends, and pieces.
  std::vector<uint64_t> take_sent() { return std::exchange(sent_, {}); }
  std::vector<Transfers::Moved> take_went() { return std::exchange(went_, {}); }

  // Drops all pieces. The rest of one that has begun cannot go any more, and without it, nothing behind it has a
  // meaning: then, and if `all`, drops the frames, too. Returns the tags of sends that have not ended, even if their
  // frames still go.
  std::vector<uint64_t> cut(bool all);

 private:
  // A frame that is ready to go, but for bulk data that go behind it.
  struct Frame {
    std::vector<std::byte> bytes;
    std::optional<uint64_t> tag;
  };

  bool fill(Transfers* dealer);
  bool write_frame();
  bool write_piece();
  bool put(std::span<const std::byte> bytes, size_t& done);

  TlsStream& stream_;
  Status why_;  // a failure of the stream
  std::deque<Frame> frames_;
  size_t frame_done_ = 0;  // bytes of the first one
  uint64_t unsent_ = 0;    // bytes of all
  std::deque<Transfers::Piece> pieces_;
  bool is_in_piece_ = false;     // the first of these has begun
  bool has_piece_head_ = false;  // its head, the first frame, has not gone
  std::vector<uint64_t> sent_;
  std::vector<Transfers::Moved> went_;
};

}  // namespace tailrace::impl
