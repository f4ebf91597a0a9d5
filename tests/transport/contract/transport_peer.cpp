// transport_peer: a process for tests to kill. It listens, says where on stdout, accepts, and sends bulk data of 4
// MiB to each peer without end; what it gets it fetches. It ends when its stdin ends.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <string>

#include "transports.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t kBulk = size_t{4} << 20;
constexpr uint64_t kAtOnce = 8;

bool stdin_has_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char byte = 0;
  return ::poll(&input, 1, 0) > 0 && ::read(STDIN_FILENO, &byte, 1) <= 0;
}

class TransportPeer {
 public:
  explicit TransportPeer(Transport& transport) : transport_(transport) {}

  void step() {
    std::vector<TransportEvent> events;
    transport_.poll(events);
    for (const TransportEvent& event : events) take(event);
    if (events.empty()) transport_.wait(std::chrono::milliseconds(100));
  }

 private:
  void take(const TransportEvent& event) {
    switch (event.kind) {
      case TransportEvent::Kind::accepted:
        for (uint64_t i = 0; i < kAtOnce; ++i) send(event.peer);
        break;
      case TransportEvent::Kind::sent:
        if (event.status.ok()) send(event.peer);
        break;
      case TransportEvent::Kind::message:
        if (event.bulk > 0) receive(event);
        break;
      case TransportEvent::Kind::received: received_.erase(event.tag); break;
      default: break;
    }
  }
  void send(PeerId peer) {
    const iovec all{bulk_.data(), bulk_.size()};
    transport_.send(peer, {}, {&all, 1}, 0);
  }
  void receive(const TransportEvent& event) {
    std::vector<std::byte>& into = received_[++last_];
    into.resize(event.bulk);
    transport_.receive(event.peer, event.arrival, into, last_);
  }

  Transport& transport_;
  std::vector<std::byte> bulk_ = std::vector<std::byte>(kBulk);
  std::map<uint64_t, std::vector<std::byte>> received_;
  uint64_t last_ = 0;
};

int run(const std::string& transport) {
  Doorbell doorbell;
  Result<std::unique_ptr<Transport>> made = make_transport(transport, doorbell);
  if (!made.ok()) return 1;
  const Result<std::string> address = made.value()->listen("127.0.0.1:0");
  if (!address.ok()) return 1;
  std::printf("%s\n", address.value().c_str());
  std::fflush(stdout);
  TransportPeer peer(*made.value());
  while (!stdin_has_ended()) peer.step();
  return 0;
}

}  // namespace
}  // namespace tailrace::impl

int main(int count, char** arguments) { return tailrace::impl::run(count > 1 ? arguments[1] : ""); }
