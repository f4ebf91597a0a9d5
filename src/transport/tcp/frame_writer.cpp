#include "transport/tcp/frame_writer.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::impl {
namespace {

std::span<const std::byte> bytes_of(const iovec& segment) {
  return {static_cast<const std::byte*>(segment.iov_base), segment.iov_len};
}

}  // namespace

void FrameWriter::queue(const FrameHead& head, std::span<const std::byte> body, std::span<const iovec> bulk,
                        std::optional<uint64_t> tag) {
  uint64_t size = 0;
  for (const iovec& segment : bulk) size += segment.iov_len;
  Frame& frame = frames_.emplace_back();
  frame.tag = tag;
  const auto first = std::as_bytes(std::span(&head, 1));
  frame.bytes.reserve(first.size() + body.size() + size);
  frame.bytes.insert(frame.bytes.end(), first.begin(), first.end());
  frame.bytes.insert(frame.bytes.end(), body.begin(), body.end());
  for (const iovec& segment : bulk) {
    const auto bytes = bytes_of(segment);
    frame.bytes.insert(frame.bytes.end(), bytes.begin(), bytes.end());
  }
  unsent_ += frame.bytes.size();
}

Result<bool> FrameWriter::write(Transfers* dealer) {
  for (size_t all = 0; all < kMostAtOnce; all += TlsStream::kMostWaiting) {
    const bool has_all = fill(dealer);
    if (!why_.ok()) return why_;
    const Result<bool> flushed = stream_.flush();
    if (!flushed.ok()) return flushed;
    if (!flushed.value() || has_all) return false;  // the socket says when there is room
  }
  return true;
}

// Gives TLS what it has room for: frames first, and between them pieces of bulk data. Returns true if that was all.
bool FrameWriter::fill(Transfers* dealer) {
  for (;;) {
    if (!is_in_piece_ && !frames_.empty()) {
      if (!write_frame()) return false;
      continue;
    }
    if (pieces_.empty() && dealer != nullptr) {
      if (const auto piece = dealer->next_piece()) pieces_.push_back(*piece);
    }
    if (pieces_.empty()) return true;
    if (!write_piece()) return false;
  }
}

// Gives TLS the rest of the first frame. Returns false if there is no room for all of it.
bool FrameWriter::write_frame() {
  Frame& frame = frames_.front();
  if (!put(std::span(frame.bytes).subspan(frame_done_), frame_done_)) return false;
  if (frame_done_ < frame.bytes.size()) return false;
  if (frame.tag) sent_.push_back(*frame.tag);
  unsent_ -= frame.bytes.size();
  frames_.pop_front();
  frame_done_ = 0;
  return true;
}

// Gives TLS the first piece of bulk data, or the rest of it. Returns true if it has ended.
bool FrameWriter::write_piece() {
  Transfers::Piece& piece = pieces_.front();
  if (!is_in_piece_) {
    queue({.kind = FrameKind::bulk, .head = piece.place, .bulk = piece.bytes, .number = piece.number});
    is_in_piece_ = has_piece_head_ = true;
  }
  if (has_piece_head_ && !write_frame()) return false;
  has_piece_head_ = false;
  while (piece.left > 0) {
    const iovec& segment = (*piece.segments)[piece.segment];
    const uint64_t size = std::min<uint64_t>(piece.left, segment.iov_len - piece.offset);
    size_t done = 0;
    if (!put(bytes_of(segment).subspan(piece.offset, size), done)) return false;
    piece.offset += done;
    piece.left -= done;
    if (piece.offset == segment.iov_len) {
      ++piece.segment;
      piece.offset = 0;
    }
    if (done < size) return false;
  }
  went_.push_back({piece.number, piece.bytes});
  pieces_.pop_front();
  is_in_piece_ = false;
  return true;
}

// Adds to `done` how many of the bytes TLS has taken. Returns false if the stream has failed.
bool FrameWriter::put(std::span<const std::byte> bytes, size_t& done) {
  if (bytes.empty()) return true;
  const Result<size_t> wrote = stream_.write(bytes);
  if (!wrote.ok()) {
    why_ = wrote.status();
    return false;
  }
  done += wrote.value();
  return true;
}

std::vector<uint64_t> FrameWriter::cut(bool all) {
  std::vector<uint64_t> tags;
  for (Frame& frame : frames_) {
    if (const auto tag = std::exchange(frame.tag, std::nullopt)) tags.push_back(*tag);
  }
  pieces_.clear();
  if (is_in_piece_ || all) {
    frames_.clear();
    frame_done_ = unsent_ = 0;
  }
  is_in_piece_ = has_piece_head_ = false;
  return tags;
}

}  // namespace tailrace::impl
