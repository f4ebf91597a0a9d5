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

uint64_t size_of(std::span<const iovec> bulk) {
  uint64_t bytes = 0;
  for (const iovec& segment : bulk) bytes += segment.iov_len;
  return bytes;
}

}  // namespace

Connection::Connection(PeerId id, FileDescriptor socket, std::shared_ptr<const Tls> tls, bool calls,
                       std::string address, std::optional<Join> join)
    : id_(id),
      socket_(std::move(socket)),
      calls_(calls),
      address_(std::move(address)),
      stream_(std::move(tls), socket_.get(), calls, join.has_value()),
      writer_(stream_),
      phase_(calls ? Phase::connecting : Phase::greeting),
      transfers_(join ? std::move(join->transfers) : std::make_shared<Transfers>(id)),
      is_further_(join.has_value()) {
  if (join) to_join_ = join->invitation;
}

bool Connection::move() {
  if (phase_ == Phase::connecting && !finish_connecting()) return false;
  if (phase_ == Phase::greeting) return greet();  // its owner hears of it before the first message
  if (!is_there()) return false;
  // A caller that does not take its answers has nothing more to ask. A caller itself always reads, so the two ends
  // never wait for each other. Nothing is read of who asks to join before he has.
  const auto may_read = [this] { return !is_leaving_ && !asks_ && (calls_ || writer_.unsent() < kMostUnsent); };
  const bool reads = may_read();
  bool more = reads && read_some();
  if (is_there()) more = write_some() || more || (!reads && may_read());
  return is_there() && more;
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
  if (calls_ && is_further_ != stream_.is_further()) break_off("found a choice of another protocol");
  if (phase_ == Phase::failed) return false;
  is_further_ = stream_.is_further();
  has_opened_ = !is_further_;
  phase_ = is_further_ ? Phase::joining : Phase::open;
  if (to_join_) {
    writer_.queue({.kind = FrameKind::join, .head = sizeof(JoinSecret), .number = to_join_->peer}, to_join_->secret);
  }
  return true;
}

void Connection::invite(const Invitation& invitation) {
  writer_.queue(
      {.kind = FrameKind::invite, .head = sizeof(JoinSecret), .bulk = invitation.most, .number = invitation.peer},
      invitation.secret);
}

void Connection::join(std::shared_ptr<Transfers> transfers) {
  transfers_ = std::move(transfers);
  asks_.reset();
  phase_ = Phase::open;
  has_opened_ = true;
  writer_.queue({.kind = FrameKind::joined});
}

void Connection::beat() {
  if (phase_ == Phase::open && writer_.unsent() == 0) writer_.queue({.kind = FrameKind::beat});
}

bool Connection::is_silent(Nanoseconds now, Nanoseconds limit) {
  if (silent_since_ == Nanoseconds::zero() || std::exchange(heard_then_, heard_) != heard_) silent_since_ = now;
  return now - silent_since_ >= limit;
}

// ---- what comes ------------------------------------------------------------------------------------------------

bool Connection::read_some() {
  for (size_t all = 0; all < kMostAtOnce;) {
    const std::span<std::byte> into = next_part();
    const Result<size_t> got = stream_.read(into);
    if (!got.ok()) fail(got.status());
    if (!got.ok() || got.value() == 0) return false;
    all += got.value();
    heard_ += got.value();
    take_part(got.value());
    if (!is_there() || asks_) return false;
  }
  return true;
}

// Returns the memory of what comes next. It is never empty.
std::span<std::byte> Connection::next_part() {
  if (head_done_ < sizeof head_) return std::as_writable_bytes(std::span(&head_, 1)).subspan(head_done_);
  if (head_.kind != FrameKind::bulk) return std::span(body_).subspan(body_done_);
  return piece_.subspan(body_done_);
}

void Connection::take_part(size_t bytes) {
  if (head_done_ < sizeof head_) {
    head_done_ += bytes;
    if (head_done_ < sizeof head_) return;
    check_head();
    if (!is_there()) return;
  } else {
    body_done_ += bytes;
  }
  const uint64_t all = head_.kind == FrameKind::bulk ? head_.bulk : body_.size();
  if (body_done_ == all) end_frame();
}

bool Connection::may_come(FrameKind kind) const {
  if (phase_ == Phase::joining) return kind == (calls_ ? FrameKind::joined : FrameKind::join);
  if (is_further_) return kind == FrameKind::bulk || kind == FrameKind::beat;
  if (kind == FrameKind::invite) return calls_ && !is_invited_;
  return kind >= FrameKind::message && kind <= FrameKind::bulk;
}

// Takes memory for what follows, once it is known how much it may be.
void Connection::check_head() {
  body_.clear();
  if (!may_come(head_.kind)) return break_off("found a frame of a kind that cannot come here");
  if (head_.kind == FrameKind::bulk) return take_piece();
  const bool has_head = head_.kind == FrameKind::message || head_.kind == FrameKind::whole;
  const bool has_secret = head_.kind == FrameKind::invite || head_.kind == FrameKind::join;
  if (head_.head > (has_head ? Transport::kMostHead : has_secret ? sizeof(JoinSecret) : 0)) {
    return break_off("found a head that is too long");
  }
  body_.resize(head_.head);
  if (head_.kind == FrameKind::message) {
    if (head_.number != (head_.bulk > 0 ? last_announced_ + 1 : 0)) break_off("found a wrong number");
  } else if (head_.kind == FrameKind::whole) {
    if (head_.bulk == 0 || head_.bulk > kMostWhole || head_.number != 0 || kept_ + head_.bulk > kMostKept) {
      return break_off("found more bulk data than wanted");
    }
    body_.resize(head_.head + head_.bulk);
  } else if (has_secret) {
    if (head_.head != sizeof(JoinSecret)) break_off("found a secret of a wrong length");
  } else if (head_.kind == FrameKind::joined || head_.kind == FrameKind::beat) {
    return;
  } else if (!transfers_->waits(head_.number) || head_.bulk != 0) {
    break_off("found an answer to no message");
  }
}

void Connection::take_piece() {
  const Result<std::span<std::byte>> taken = transfers_->take(head_.number, head_.head, head_.bulk);
  if (!taken.ok()) return break_off(taken.status().fault().message);
  piece_ = taken.value();
}

void Connection::end_frame() {
  switch (head_.kind) {
    case FrameKind::message:
    case FrameKind::whole: deliver(); break;
    case FrameKind::fetch: transfers_->fetch(head_.number); break;
    case FrameKind::refuse: end_send(transfers_->refuse(head_.number), {}); break;
    case FrameKind::bulk: came_.push_back({head_.number, head_.bulk}); break;
    case FrameKind::invite:
    case FrameKind::join: {
      Invitation named{.peer = head_.number, .most = head_.bulk};
      std::copy(body_.begin(), body_.end(), named.secret.begin());
      (head_.kind == FrameKind::join ? asks_ : invitation_) = named;
      is_invited_ = true;
      break;
    }
    case FrameKind::joined:
      phase_ = Phase::open;
      has_opened_ = true;
      break;
    case FrameKind::beat: break;
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
  transfers_->expect(arrival.number, into, tag);
  writer_.queue({.kind = FrameKind::fetch, .number = arrival.number});
}

void Connection::refuse(uint64_t name) {
  const auto found = arrivals_.find(name);
  if (found == arrivals_.end()) return;
  const Arrival arrival = std::move(found->second);
  arrivals_.erase(found);
  if (arrival.number == 0) {
    kept_ -= arrival.bytes;
  } else if (phase_ == Phase::open) {
    writer_.queue({.kind = FrameKind::refuse, .number = arrival.number});
  }
}

// ---- what goes -------------------------------------------------------------------------------------------------

void Connection::send(std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag) {
  if (phase_ == Phase::failed) return end_send(tag, why_);
  const uint64_t bytes = size_of(bulk);
  FrameHead frame{.head = static_cast<uint32_t>(head.size()), .bulk = bytes};
  if (bytes <= kMostWhole) {
    if (bytes > 0) frame.kind = FrameKind::whole;
    return writer_.queue(frame, head, bulk, tag);
  }
  frame.number = transfers_->add(bulk, bytes, tag);
  writer_.queue(frame, head);
}

bool Connection::write_some() {
  const Result<bool> more = writer_.write(deals_itself_ && !is_further_ ? transfers_.get() : nullptr);
  if (!more.ok()) fail(more.status());
  return more.ok() && more.value();
}

// ---- ends ------------------------------------------------------------------------------------------------------

void Connection::break_off(const std::string& reason) {
  fail(Status(TAILRACE_IO_ERROR, fmt::format("it breaks the protocol: {}", reason)));
}

void Connection::fail(Status why) {
  if (phase_ == Phase::failed) return;
  phase_ = Phase::failed;
  why_ = std::move(why);
}

void Connection::end_send(uint64_t tag, const Status& status) {
  events_.push_back({.kind = TransportEvent::Kind::sent, .peer = id_, .tag = tag, .status = status});
}

void Connection::end_all(const Status& status) {
  for (const uint64_t tag : writer_.cut(!is_there())) end_send(tag, status);
  arrivals_.clear();
  if (!is_further_) transfers_->end_all(status, events_);
}

void Connection::take_events(std::vector<TransportEvent>& events) {
  for (const uint64_t tag : writer_.take_sent()) end_send(tag, {});
  transfers_->add_up(writer_.take_went(), std::exchange(came_, {}), events_);
  if (phase_ == Phase::failed) end_all(why_);
  events.insert(events.end(), std::make_move_iterator(events_.begin()), std::make_move_iterator(events_.end()));
  events_.clear();
}

void Connection::leave() {
  is_leaving_ = true;
  end_all(Status(TAILRACE_CLOSED, fmt::format("the connection with {} was closed", address_)));
}

bool Connection::has_left() {
  if (!is_there()) return true;
  if (!has_said_goodbye_) {
    write_some();
    if (!is_there()) return true;
    if (writer_.unsent() > 0) return false;
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
