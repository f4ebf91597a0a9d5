#include "transport/tcp/connection.hpp"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

std::span<const std::byte> bytes_of(const iovec& segment) {
  return {static_cast<const std::byte*>(segment.iov_base), segment.iov_len};
}

uint64_t size_of(std::span<const iovec> bulk) {
  uint64_t bytes = 0;
  for (const iovec& segment : bulk) bytes += segment.iov_len;
  return bytes;
}

}  // namespace

Connection::Connection(PeerId id, FileDescriptor socket, std::shared_ptr<const Tls> tls, bool calls,
                       std::string address)
    : id_(id),
      socket_(std::move(socket)),
      calls_(calls),
      address_(std::move(address)),
      stream_(std::move(tls), socket_.get(), calls),
      phase_(calls ? Phase::connecting : Phase::greeting) {}

bool Connection::move() {
  if (phase_ == Phase::connecting && !finish_connecting()) return false;
  if (phase_ == Phase::greeting) return greet();  // its owner hears of it before the first message
  if (phase_ != Phase::open) return false;
  // A caller that does not take its answers has nothing more to ask. A caller itself always reads, so the two ends
  // never wait for each other.
  const auto may_read = [this] { return !is_leaving_ && (calls_ || unsent_ < kMostUnsent); };
  const bool reads = may_read();
  bool more = reads && read_some();
  if (phase_ == Phase::open) more = write_some() || more || (!reads && may_read());
  return phase_ == Phase::open && more;
}

bool Connection::finish_connecting() {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  sockaddr_storage peer{};
  size = sizeof peer;
  const bool is_connected =
      error == 0 && ::getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&peer), &size) == 0;
  if (error == 0 && !is_connected) return false;  // not yet
  if (error != 0) fail(Status::of_errno("connect", address_, error));
  if (error == 0) phase_ = Phase::greeting;
  return error == 0;
}

bool Connection::greet() {
  const Result<bool> done = stream_.shake_hands();
  if (!done.ok()) fail(done.status());
  if (!done.ok() || !done.value()) return false;
  phase_ = Phase::open;
  return true;
}

// ---- what comes ------------------------------------------------------------------------------------------------

bool Connection::read_some() {
  for (size_t all = 0; all < kMostAtOnce;) {
    const std::span<std::byte> into = next_part();
    const Result<size_t> got = stream_.read(into);
    if (!got.ok()) fail(got.status());
    if (!got.ok() || got.value() == 0) return false;
    all += got.value();
    take_part(got.value());
    if (phase_ != Phase::open) return false;
  }
  return true;
}

// Returns the memory of what comes next. It is never empty.
std::span<std::byte> Connection::next_part() {
  if (head_done_ < sizeof head_) return std::as_writable_bytes(std::span(&head_, 1)).subspan(head_done_);
  if (head_.kind != FrameKind::bulk) return std::span(body_).subspan(body_done_);
  const Incoming& incoming = incoming_.at(head_.number);
  return incoming.into.subspan(incoming.done, head_.bulk - body_done_);
}

void Connection::take_part(size_t bytes) {
  if (head_done_ < sizeof head_) {
    head_done_ += bytes;
    if (head_done_ < sizeof head_) return;
    check_head();
    if (phase_ != Phase::open) return;
  } else {
    body_done_ += bytes;
    if (head_.kind == FrameKind::bulk) incoming_.at(head_.number).done += bytes;
  }
  const uint64_t all = head_.kind == FrameKind::bulk ? head_.bulk : body_.size();
  if (body_done_ == all) end_frame();
}

// Takes memory for what follows, once it is known how much it may be.
void Connection::check_head() {
  const bool has_head = head_.kind == FrameKind::message || head_.kind == FrameKind::whole;
  if (head_.head > (has_head ? Transport::kMostHead : 0)) return break_off("found a head that is too long");
  body_.clear();
  switch (head_.kind) {
    case FrameKind::message:
      if (head_.number != (head_.bulk > 0 ? last_announced_ + 1 : 0)) return break_off("found a wrong number");
      body_.resize(head_.head);
      return;
    case FrameKind::whole:
      if (head_.bulk == 0 || head_.bulk > kMostWhole || head_.number != 0 || kept_ + head_.bulk > kMostKept) {
        return break_off("found more bulk data than wanted");
      }
      body_.resize(head_.head + head_.bulk);
      return;
    case FrameKind::fetch:
    case FrameKind::refuse: {
      const auto found = outgoing_.find(head_.number);
      if (found == outgoing_.end() || found->second.is_wanted || head_.bulk != 0) {
        break_off("found an answer to no message");
      }
      return;
    }
    case FrameKind::bulk: return check_bulk();
  }
  break_off("found a frame of an unknown kind");
}

void Connection::check_bulk() {
  const auto found = incoming_.find(head_.number);
  const bool fits =
      found != incoming_.end() && head_.bulk > 0 && head_.bulk <= found->second.into.size() - found->second.done;
  if (!fits) break_off("found bulk data that nobody has asked for");
}

void Connection::end_frame() {
  switch (head_.kind) {
    case FrameKind::message:
    case FrameKind::whole: deliver(); break;
    case FrameKind::fetch:
      outgoing_.at(head_.number).is_wanted = true;
      wanted_.push_back(head_.number);
      break;
    case FrameKind::refuse: {
      const auto refused = outgoing_.extract(head_.number);
      end_send(refused.mapped().tag, {});
      break;
    }
    case FrameKind::bulk: {
      const Incoming& incoming = incoming_.at(head_.number);
      if (incoming.done < incoming.into.size()) break;
      events_.push_back({.kind = TransportEvent::Kind::received, .peer = id_, .tag = incoming.tag});
      incoming_.erase(head_.number);
      break;
    }
  }
  head_done_ = body_done_ = 0;
}

void Connection::deliver() {
  TransportEvent event{.kind = TransportEvent::Kind::message, .peer = id_, .bulk = head_.bulk};
  if (head_.bulk > 0) {
    if (arrivals_.size() == kMostArrivals) return break_off("found too many messages that wait");
    event.arrival = ++last_arrival_;
    Arrival& arrival = arrivals_[event.arrival];
    arrival.bytes = head_.bulk;
    arrival.number = head_.number;
    last_announced_ = std::max(last_announced_, head_.number);
    if (head_.kind == FrameKind::whole) {
      arrival.kept.assign(body_.begin() + head_.head, body_.end());
      kept_ += head_.bulk;
    }
  }
  body_.resize(head_.head);
  event.head = std::move(body_);
  events_.push_back(std::move(event));
}

void Connection::receive(uint64_t name, std::span<std::byte> into, uint64_t tag) {
  const auto found = arrivals_.find(name);
  if (phase_ == Phase::failed) {
    events_.push_back({.kind = TransportEvent::Kind::received, .peer = id_, .tag = tag, .status = why_});
    return;
  }
  TAILRACE_REQUIRE(found != arrivals_.end() && found->second.bytes == into.size());
  const Arrival arrival = std::move(found->second);
  arrivals_.erase(found);
  if (arrival.number == 0) {
    std::copy(arrival.kept.begin(), arrival.kept.end(), into.begin());
    kept_ -= arrival.bytes;
    events_.push_back({.kind = TransportEvent::Kind::received, .peer = id_, .tag = tag});
    return;
  }
  incoming_[arrival.number] = {into, 0, tag};
  queue({.kind = FrameKind::fetch, .number = arrival.number}, {}, {}, {});
}

void Connection::refuse(uint64_t name) {
  const auto found = arrivals_.find(name);
  if (found == arrivals_.end()) return;
  const Arrival arrival = std::move(found->second);
  arrivals_.erase(found);
  if (arrival.number == 0) {
    kept_ -= arrival.bytes;
  } else if (phase_ == Phase::open) {
    queue({.kind = FrameKind::refuse, .number = arrival.number}, {}, {}, {});
  }
}

// ---- what goes -------------------------------------------------------------------------------------------------

void Connection::send(std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag) {
  if (phase_ == Phase::failed) return end_send(tag, why_);
  const uint64_t bytes = size_of(bulk);
  FrameHead frame{.head = static_cast<uint32_t>(head.size()), .bulk = bytes};
  if (bytes <= kMostWhole) {
    if (bytes > 0) frame.kind = FrameKind::whole;
    return queue(frame, head, bulk, tag);
  }
  frame.number = ++last_number_;
  outgoing_[frame.number] = {.segments = {bulk.begin(), bulk.end()}, .left = bytes, .tag = tag};
  queue(frame, head, {}, {});
}

void Connection::queue(const FrameHead& head, std::span<const std::byte> body, std::span<const iovec> bulk,
                       std::optional<uint64_t> tag) {
  Frame& frame = frames_.emplace_back();
  frame.tag = tag;
  const auto first = std::as_bytes(std::span(&head, 1));
  frame.bytes.reserve(first.size() + body.size() + size_of(bulk));
  frame.bytes.insert(frame.bytes.end(), first.begin(), first.end());
  frame.bytes.insert(frame.bytes.end(), body.begin(), body.end());
  for (const iovec& segment : bulk) {
    const auto bytes = bytes_of(segment);
    frame.bytes.insert(frame.bytes.end(), bytes.begin(), bytes.end());
  }
  unsent_ += frame.bytes.size();
}

bool Connection::write_some() {
  for (size_t all = 0; all < kMostAtOnce; all += TlsStream::kMostWaiting) {
    const bool has_all = fill();
    if (phase_ != Phase::open) return false;
    const Result<bool> flushed = stream_.flush();
    if (!flushed.ok()) fail(flushed.status());
    if (!flushed.ok() || !flushed.value() || has_all) return false;  // the socket says when there is room
  }
  return true;
}

// Gives TLS what it has room for: frames first, and between them pieces of bulk data. Returns true if that was all.
bool Connection::fill() {
  for (;;) {
    if (piece_ == 0 && !frames_.empty()) {
      if (!write_frame()) return false;
    } else if (wanted_.empty()) {
      return true;
    } else if (!write_piece()) {
      return false;
    }
  }
}

// Gives TLS the rest of the first frame. Returns false if there is no room for all of it.
bool Connection::write_frame() {
  Frame& frame = frames_.front();
  if (!put(std::span(frame.bytes).subspan(frame_done_), frame_done_)) return false;
  if (frame_done_ < frame.bytes.size()) return false;
  if (frame.tag) end_send(*frame.tag, {});
  unsent_ -= frame.bytes.size();
  frames_.pop_front();
  frame_done_ = 0;
  return true;
}

// Gives TLS bulk data: the rest of a piece, or the next one with its head. Returns true if it has ended.
bool Connection::write_piece() {
  const uint64_t number = wanted_.front();
  Outgoing& outgoing = outgoing_.at(number);
  if (piece_ == 0) {
    piece_ = std::min<uint64_t>(kMostPiece, outgoing.left);
    queue({.kind = FrameKind::bulk, .bulk = piece_, .number = number}, {}, {}, {});
    has_piece_head_ = true;
  }
  if (has_piece_head_ && !write_frame()) return false;
  has_piece_head_ = false;
  while (piece_ > 0) {
    const iovec& segment = outgoing.segments[outgoing.segment];
    const uint64_t size = std::min<uint64_t>(piece_, segment.iov_len - outgoing.offset);
    size_t done = 0;
    if (!put(bytes_of(segment).subspan(outgoing.offset, size), done)) return false;
    outgoing.offset += done;
    outgoing.left -= done;
    piece_ -= done;
    if (outgoing.offset == segment.iov_len) {
      ++outgoing.segment;
      outgoing.offset = 0;
    }
    if (done < size) return false;
  }
  if (outgoing.left == 0) {
    end_send(outgoing.tag, {});
    outgoing_.erase(number);
    wanted_.pop_front();
  }
  return true;
}

// Adds to `done` how many of the bytes TLS has taken. Returns false if the connection has failed.
bool Connection::put(std::span<const std::byte> bytes, size_t& done) {
  if (bytes.empty()) return true;
  const Result<size_t> wrote = stream_.write(bytes);
  if (!wrote.ok()) {
    fail(wrote.status());
    return false;
  }
  done += wrote.value();
  return true;
}

// ---- ends ------------------------------------------------------------------------------------------------------

void Connection::break_off(const char* reason) {
  fail(Status(TAILRACE_IO_ERROR, fmt::format("it breaks the protocol: {}", reason)));
}

void Connection::fail(Status why) {
  if (phase_ == Phase::failed) return;
  phase_ = Phase::failed;
  why_ = std::move(why);
  end_all(why_);
}

void Connection::end_send(uint64_t tag, const Status& status) {
  events_.push_back({.kind = TransportEvent::Kind::sent, .peer = id_, .tag = tag, .status = status});
}

void Connection::end_all(const Status& status) {
  for (Frame& frame : frames_) {
    if (const auto tag = std::exchange(frame.tag, std::nullopt)) end_send(*tag, status);
  }
  for (const auto& [number, outgoing] : outgoing_) end_send(outgoing.tag, status);
  for (const auto& [number, incoming] : incoming_) {
    events_.push_back({.kind = TransportEvent::Kind::received, .peer = id_, .tag = incoming.tag, .status = status});
  }
  outgoing_.clear();
  incoming_.clear();
  arrivals_.clear();
  wanted_.clear();
}

void Connection::take_events(std::vector<TransportEvent>& events) {
  events.insert(events.end(), std::make_move_iterator(events_.begin()), std::make_move_iterator(events_.end()));
  events_.clear();
}

// The rest of a frame whose bulk data are the owner's cannot go any more; without it, nothing behind it has a
// meaning.
void Connection::leave() {
  is_leaving_ = true;
  const bool was_open = phase_ == Phase::open;
  const bool is_cut = piece_ > 0;
  end_all(Status(TAILRACE_CLOSED, fmt::format("the connection with {} was closed", address_)));
  if (is_cut || !was_open) frames_.clear();
  piece_ = 0;
  has_piece_head_ = false;
}

bool Connection::has_left() {
  if (phase_ != Phase::open) return true;
  if (!has_said_goodbye_) {
    write_some();
    if (phase_ != Phase::open) return true;
    if (!frames_.empty()) return false;
    stream_.say_goodbye();
    const Result<bool> flushed = stream_.flush();
    if (flushed.ok() && !flushed.value()) return false;
    ::shutdown(socket_.get(), SHUT_WR);
    has_said_goodbye_ = true;
  }
  // Reads what the other end has sent meanwhile: else the system would reset the connection, and what went last
  // might not arrive.
  std::array<std::byte, 4096> ignored{};
  ssize_t got = 0;
  for (int i = 0; i < 256 && (got = ::recv(socket_.get(), ignored.data(), ignored.size(), MSG_DONTWAIT)) > 0; ++i) {
  }
  int unsent = 0;
  const bool all_sent = ::ioctl(socket_.get(), SIOCOUTQNSD, &unsent) != 0 || unsent == 0;
  return all_sent || got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

}  // namespace tailrace::impl
