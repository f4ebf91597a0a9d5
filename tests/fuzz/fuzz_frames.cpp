// Frames of somebody who has the key, and sends what he likes. Properties: the connection takes no more memory than
// it may, every send and receive ends once, whatever comes, and the reason of an end is one line.
//
// The last byte of an input says what the connection is: bit 0: this end calls; bit 1: it is a further one of its
// peer.
#include <sys/socket.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "target.hpp"
#include "transport/tcp/connection.hpp"

namespace tailrace::fuzz {
namespace {

using namespace impl;  // NOLINT: it is their test

constexpr size_t kLargest = size_t{1} << 20;  // bytes that the owner fetches of one message
constexpr size_t kFew = 40;                   // bytes of a short piece

PreSharedKey key() {
  PreSharedKey one;
  one.identity = "0123-4567-89ab-cdef";
  one.secret.fill(3);
  return one;
}

// An owner that fetches some messages, refuses others, and sends some of its own.
class Owner {
 public:
  explicit Owner(Connection& connection) : connection_(connection) {}

  // The peer of a further connection waits for bulk data, and sends some.
  void begin(Transfers& transfers) {
    const iovec all{bulk_.data(), bulk_.size()};
    for (const size_t bytes : {kMostPiece + kFew, kFew}) {
      receives_[++messages_].resize(bytes);
      transfers.expect(messages_, receives_[messages_], messages_);
    }
    ++sends_;
    transfers.fetch(transfers.add({&all, 1}, bulk_.size(), 1));
  }
  // Takes in a further connection that asks to join, and gives it something to send.
  void join(const std::shared_ptr<Transfers>& transfers) {
    if (connection_.asks() != nullptr) connection_.join(transfers);
    while (connection_.has_joined() && connection_.writer().pieces() < 2) {
      const auto piece = transfers->next_piece();
      if (!piece) break;
      connection_.writer().add(*piece);
    }
  }

  void send(size_t bytes) {
    const iovec all{bulk_.data(), bytes};
    ++sends_;
    connection_.send({}, {&all, 1}, 1);
  }
  void take() {
    std::vector<TransportEvent> events;
    connection_.take_events(events);
    take(events);
  }
  void take(const std::vector<TransportEvent>& events) {
    for (const TransportEvent& event : events) {
      if (event.kind == TransportEvent::Kind::sent) --sends_;
      if (event.kind == TransportEvent::Kind::received) TAILRACE_REQUIRE(receives_.erase(event.tag) == 1);
      if (event.kind != TransportEvent::Kind::message || event.bulk == 0) continue;
      TAILRACE_REQUIRE(event.head.size() <= Transport::kMostHead);
      const uint64_t number = ++messages_;
      if (number % 3 == 0) connection_.refuse(event.arrival);
      if (number % 3 != 1 || event.bulk > kLargest) continue;
      receives_[number].resize(event.bulk);
      connection_.receive(event.arrival, receives_[number], number);
    }
  }
  bool all_ended() const { return sends_ == 0 && receives_.empty(); }

 private:
  Connection& connection_;
  std::vector<std::byte> bulk_ = std::vector<std::byte>(kLargest);
  std::map<uint64_t, std::vector<std::byte>> receives_;
  uint64_t messages_ = 0;
  int sends_ = 0;
};

void run(const uint8_t* data, size_t size) {
  static const std::shared_ptr<const Tls> tls = Tls::create({key()}).value();
  const uint8_t role = size > 0 ? data[--size] : 0;
  const bool calls = (role & 1) != 0;
  const bool is_further = (role & 2) != 0;
  int ends[2] = {-1, -1};
  TAILRACE_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  const FileDescriptor its(ends[1]);
  const auto transfers = std::make_shared<Transfers>(1);
  std::optional<Connection::Join> join;
  if (is_further && calls) join = Connection::Join{{}, transfers};
  Connection connection(1, FileDescriptor(ends[0]), tls, calls, "a peer", join);
  TlsStream stream(tls, its.get(), !calls, is_further && !calls);
  for (int i = 0; i < 10 && connection.phase() < Connection::Phase::joining; ++i) {
    TAILRACE_REQUIRE(stream.shake_hands().ok());
    connection.move();
  }
  TAILRACE_REQUIRE(connection.phase() == (is_further ? Connection::Phase::joining : Connection::Phase::open));
  TAILRACE_REQUIRE(stream.shake_hands().value());
  Owner owner(connection);
  if (is_further) {
    owner.begin(*transfers);
  } else {
    owner.send(100);
    owner.send(kLargest);
  }
  std::vector<std::byte> ignored(65536);
  for (size_t done = 0; done < size && connection.phase() != Connection::Phase::failed;) {
    const size_t part = std::min<size_t>(size - done, size_t{1} + data[done] * 16);
    const Result<size_t> wrote = stream.write(std::as_bytes(std::span(data + done, part)));
    if (!wrote.ok()) break;
    done += wrote.value();
    if (!stream.flush().ok()) break;
    while (connection.move()) {
    }
    if (is_further) owner.join(transfers);
    owner.take();
    while (true) {
      const Result<size_t> got = stream.read(ignored);
      if (!got.ok() || got.value() == 0) break;
    }
  }
  if (connection.phase() == Connection::Phase::failed) require_readable(connection.why().fault().message);
  connection.leave();
  owner.take();
  std::vector<TransportEvent> events;
  transfers->end_all(Status(TAILRACE_CLOSED, "the peer has ended"), events);
  owner.take(events);
  TAILRACE_REQUIRE(owner.all_ended());
}

}  // namespace
}  // namespace tailrace::fuzz

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tailrace::fuzz::run(data, size);
  return 0;
}
