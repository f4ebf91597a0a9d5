// Frames of somebody who has the key, and sends what he likes. Properties: the connection takes no more memory than
// it may, every send and receive ends once, whatever comes, and the reason of an end is one line.
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

  void send(size_t bytes) {
    const iovec all{bulk_.data(), bytes};
    ++sends_;
    connection_.send({}, {&all, 1}, 1);
  }
  void take() {
    std::vector<TransportEvent> events;
    connection_.take_events(events);
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
  int ends[2] = {-1, -1};
  TAILRACE_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
  const FileDescriptor its(ends[1]);
  Connection connection(1, FileDescriptor(ends[0]), tls, false, "a peer");
  TlsStream stream(tls, its.get(), true);
  for (int i = 0; i < 10 && connection.phase() != Connection::Phase::open; ++i) {
    TAILRACE_REQUIRE(stream.shake_hands().ok());
    connection.move();
  }
  TAILRACE_REQUIRE(connection.phase() == Connection::Phase::open);
  Owner owner(connection);
  owner.send(100);
  owner.send(kLargest);
  std::vector<std::byte> ignored(65536);
  for (size_t done = 0; done < size && connection.phase() == Connection::Phase::open;) {
    const size_t part = std::min<size_t>(size - done, size_t{1} + data[done] * 16);
    const Result<size_t> wrote = stream.write(std::as_bytes(std::span(data + done, part)));
    if (!wrote.ok()) break;
    done += wrote.value();
    if (!stream.flush().ok()) break;
    while (connection.move()) {
    }
    owner.take();
    while (true) {
      const Result<size_t> got = stream.read(ignored);
      if (!got.ok() || got.value() == 0) break;
    }
  }
  if (connection.phase() == Connection::Phase::failed) require_readable(connection.why().fault().message);
  connection.leave();
  owner.take();
  TAILRACE_REQUIRE(owner.all_ended());
}

}  // namespace
}  // namespace tailrace::fuzz

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tailrace::fuzz::run(data, size);
  return 0;
}
