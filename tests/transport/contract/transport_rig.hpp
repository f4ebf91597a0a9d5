// TransportRig: two transports in one process, one of which listens. The test polls them in turn, for a limited
// number of steps, and looks at what they have reported.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/dice.hpp"
#include "transports.hpp"

namespace tailrace::impl {

using Kind = TransportEvent::Kind;
using Bytes = std::vector<std::byte>;

inline std::string message_of(const Status& status) { return status.ok() ? "ok" : status.fault().message; }

inline Bytes random_bytes(Dice& dice, size_t size) {
  Bytes bytes(size);
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    const uint64_t word = dice.below(UINT64_MAX);
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, size - at));
  }
  return bytes;
}

// Cuts bytes into `count` segments, some of which may be empty.
inline std::vector<iovec> cut(Dice& dice, Bytes& bytes, size_t count) {
  std::vector<size_t> cuts{0, bytes.size()};
  while (cuts.size() < count + 1) cuts.push_back(dice.between(0, bytes.size()));
  std::sort(cuts.begin(), cuts.end());
  std::vector<iovec> segments;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) segments.push_back({bytes.data() + cuts[i], cuts[i + 1] - cuts[i]});
  return segments;
}

// One transport, and its events that the test has not taken.
struct Side {
  Doorbell doorbell;
  std::unique_ptr<Transport> transport;
  std::vector<TransportEvent> events;

  // Returns true if something was reported. A loss must not come together with other events of its peer, which the
  // owner may still answer.
  bool poll() {
    std::vector<TransportEvent> reported;
    if (transport) transport->poll(reported);
    std::map<PeerId, size_t> counts;
    for (const TransportEvent& event : reported) counts[event.peer]++;
    for (TransportEvent& event : reported) {
      if (event.kind == TransportEvent::Kind::lost) {
        EXPECT_EQ(counts[event.peer], 1U);
      }
      events.push_back(std::move(event));
    }
    return !reported.empty();
  }
  size_t count(Kind kind) const {
    return static_cast<size_t>(std::count_if(events.begin(), events.end(),
                                             [kind](const TransportEvent& event) { return event.kind == kind; }));
  }
  // Takes the first event of this kind.
  std::optional<TransportEvent> take(Kind kind) {
    const auto found = std::find_if(events.begin(), events.end(),
                                    [kind](const TransportEvent& event) { return event.kind == kind; });
    if (found == events.end()) return std::nullopt;
    std::optional<TransportEvent> event(std::move(*found));
    events.erase(found);
    return event;
  }
};

class TransportRig {
 public:
  static constexpr int kMostSteps = 20000;

  explicit TransportRig(const std::string& name) {
    for (Side* side : {&listener, &client}) {
      Result<std::unique_ptr<Transport>> made = make_transport(name, side->doorbell);
      EXPECT_TRUE(made.ok()) << message_of(made.status());
      if (made.ok()) side->transport = std::move(made).value();
    }
  }

  bool run_until(const std::function<bool()>& done, int most_steps = kMostSteps) {
    for (int step = 0; step < most_steps; ++step) {
      if (done()) return true;
      const bool listener_moved = listener.poll();
      const bool client_moved = client.poll();
      Side& sleeper = step % 2 == 0 ? listener : client;
      if (!listener_moved && !client_moved && sleeper.transport) {
        sleeper.transport->wait(std::chrono::milliseconds(1));
      }
    }
    return done();
  }
  // Takes the next event of this kind, which must come.
  TransportEvent next(Side& side, Kind kind) {
    EXPECT_TRUE(run_until([&] { return side.count(kind) > 0; }))
        << "no event of kind " << static_cast<int>(kind) << reported(listener) << reported(client);
    return side.take(kind).value_or(TransportEvent{});
  }

  void listen(const std::string& at = "127.0.0.1:0") {
    Result<std::string> result = listener.transport->listen(at);
    ASSERT_TRUE(result.ok()) << message_of(result.status());
    address = result.value();
  }
  void connect() {
    at_client = client.transport->connect(address);
    EXPECT_EQ(next(client, Kind::connected).peer, at_client);
    at_listener = next(listener, Kind::accepted).peer;
  }
  static std::string reported(const Side& side) {
    std::string text = ";";
    for (const TransportEvent& event : side.events) {
      text += " " + std::to_string(static_cast<int>(event.kind)) + ": " + message_of(event.status);
    }
    return text;
  }
  PeerId peer_of(const Side& side) const { return &side == &client ? at_client : at_listener; }
  Side& other(const Side& side) { return &side == &client ? listener : client; }

  Side listener;
  Side client;
  std::string address;
  PeerId at_client = 0;    // the client's number of the first connection
  PeerId at_listener = 0;  // the listener's number of it
};

}  // namespace tailrace::impl
