#include "transport/tcp/connection.hpp"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
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
      reader_(stream_, id, calls),
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
  const auto may_read = [this] {
    return !is_leaving_ && asks() == nullptr && (calls_ || writer_.unsent() < kMostUnsent);
  };
  const bool reads = may_read();
  bool more = reads && read_some();
  more = write() || more || (!reads && may_read());
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
  if (calls_ && is_further_ != stream_.is_further()) {
    fail(Status(TAILRACE_IO_ERROR, "it breaks the protocol: found a choice of another protocol"));
  }
  if (phase_ == Phase::failed) return false;
  is_further_ = stream_.is_further();
  has_opened_ = !is_further_;
  phase_ = is_further_ ? Phase::joining : Phase::open;
  if (is_further_) reader_.expect(calls_ ? FrameReader::Expects::joined : FrameReader::Expects::join);
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
  reader_.let_in();
  phase_ = Phase::open;
  has_opened_ = true;
  writer_.queue({.kind = FrameKind::joined});
}

void Connection::beat() {
  if (phase_ == Phase::open && writer_.unsent() == 0) writer_.queue({.kind = FrameKind::beat});
}

bool Connection::is_silent(Nanoseconds now, Nanoseconds limit) {
  if (silent_since_ == Nanoseconds::zero() || std::exchange(heard_then_, reader_.heard()) != reader_.heard())
    silent_since_ = now;
  return now - silent_since_ >= limit;
}

// ---- what comes ------------------------------------------------------------------------------------------------

bool Connection::read_some() {
  const Result<bool> more = reader_.read(*transfers_, events_);
  if (phase_ == Phase::joining && reader_.expects() == FrameReader::Expects::pieces) {
    phase_ = Phase::open;
    has_opened_ = true;
  }
  if (!more.ok()) fail(more.status());
  return more.ok() && more.value();
}

void Connection::receive(uint64_t name, std::span<std::byte> into, uint64_t tag) {
  TransportEvent received{.kind = TransportEvent::Kind::received, .peer = id_, .tag = tag, .status = why_};
  if (phase_ == Phase::failed) return events_.push_back(std::move(received));
  const std::optional<FrameReader::Arrival> arrival = reader_.claim(name);
  TAILRACE_REQUIRE(arrival && arrival->bytes == into.size());
  if (arrival->number == 0) {
    std::copy(arrival->kept.begin(), arrival->kept.end(), into.begin());
    return events_.push_back(std::move(received));
  }
  transfers_->expect(arrival->number, into, tag);
  writer_.queue({.kind = FrameKind::fetch, .number = arrival->number});
}

void Connection::refuse(uint64_t name) {
  const std::optional<FrameReader::Arrival> arrival = reader_.claim(name);
  if (!arrival || arrival->number == 0 || phase_ != Phase::open) return;
  writer_.queue({.kind = FrameKind::refuse, .number = arrival->number});
}

// ---- what goes -------------------------------------------------------------------------------------------------

void Connection::send(std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag) {
  if (phase_ == Phase::failed) return end_send(tag, why_);
  const uint64_t bytes = size_of(bulk);
  FrameHead frame{.head = static_cast<uint32_t>(head.size()), .bulk = bytes};
  if (bytes <= FrameReader::kMostWhole) {
    if (bytes > 0) frame.kind = FrameKind::whole;
    return writer_.queue(frame, head, bulk, tag);
  }
  frame.number = transfers_->add(bulk, bytes, tag);
  writer_.queue(frame, head);
}

bool Connection::write() {
  if (!is_there()) return false;
  const Result<bool> more = writer_.write(deals_itself_ && !is_further_ ? transfers_.get() : nullptr);
  if (!more.ok()) fail(more.status());
  return more.ok() && more.value();
}

// ---- ends ------------------------------------------------------------------------------------------------------

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
  reader_.forget_arrivals();
  if (!is_further_) transfers_->end_all(status, events_);
}

void Connection::take_events(std::vector<TransportEvent>& events) {
  for (const uint64_t tag : writer_.take_sent()) end_send(tag, {});
  transfers_->add_up(writer_.take_went(), reader_.take_came(), events_);
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
    write();
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
