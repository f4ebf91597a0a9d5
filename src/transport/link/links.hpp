// Links: connections over a transport whose ends have greeted each other. It tells each end the terms of the other,
// and notices peers that have fallen silent.
//
// Both ends of forwarding use it; it knows nothing of the messages' meaning. The transport lets no stranger in who
// has no key: all that is seen of such a one is a line in the log. An idle connection carries a beat, so that a peer
// whose node is gone is noticed within Options::silence. One thread; poll() must be called at due().
//
// With Options::lease, this end may act for a peer only for so long after it sent something that the peer has
// answered. The peer, which counts from the last message that it has got, knows when that time is over, although
// messages may be late or lost (docs/decisions/013-fence.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/status.hpp"
#include "transport/link/link_wire.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

struct LinkEvent {
  enum class Kind : uint8_t {
    ready,     // the peer has greeted; `terms`: what it told
    message,   // a message: `body`, and `bulk` bytes that wait for receive() or refuse()
    sent,      // a send has ended, and its memory is free; `status`
    received,  // the bulk data are there, or are not; `status`
    lost       // the link is gone, or was never ready; `status`. The last event of its peer
  };
  Kind kind = Kind::lost;
  PeerId peer = 0;
  std::vector<std::byte> body = {};
  uint64_t bulk = 0;
  uint64_t arrival = 0;
  uint64_t tag = 0;
  Terms terms = {};
  std::string address = {};  // of a peer that is ready
  Status status = {};
  Nanoseconds heard{0};  // of a link that is lost: when its last message came
  bool refused = false;  // a link that was never made: the process that listened there has ended
};

class Links {
 public:
  // A body may have this many bytes.
  static constexpr size_t kMostBody = Transport::kMostHead - sizeof(LinkHead);

  struct Options {
    Nanoseconds greeting = std::chrono::seconds(2);         // limit for connection and greeting
    Nanoseconds beat = std::chrono::milliseconds(400);      // an idle link sends this often
    Nanoseconds silence = std::chrono::milliseconds(1900);  // a peer that is silent for so long is lost
    Nanoseconds lease{0};                                   // a link ends when its lease does; 0: there is none
    uint16_t version = 6;                                   // of the messages
  };

  // Borrows all but the terms and the options. `terms` is sent to each peer.
  Links(Transport& transport, const Clock& clock, Log& log, const Terms& terms, const Options& options);
  ~Links();

  // See Transport.
  Result<std::string> listen(const std::string& address) { return transport_.listen(address); }
  PeerId connect(const std::string& address);
  // Ends a link. Reports `sent` and `received` for what still uses memory, and no `lost`.
  void close(PeerId peer);
  // Ends a link whose peer does what it may not; the log says `why`.
  void distrust(PeerId peer, const std::string& why);

  // Sends a message; see Transport::send. `body` is not empty. Tags are below kMostTag, and each send that has bulk
  // data has one of its own until it has ended. If the link has ended, and poll() has not reported that yet, this and
  // receive() end with failure, before `lost`.
  static constexpr uint64_t kMostTag = uint64_t{1} << 62;
  void send(PeerId peer, std::span<const std::byte> body, std::span<const iovec> bulk, uint64_t tag);
  void receive(PeerId peer, uint64_t arrival, std::span<std::byte> into, uint64_t tag);
  void refuse(PeerId peer, uint64_t arrival);
  // Returns true if `peer` is a link that is ready.
  bool is_ready(PeerId peer) const;
  // Returns true if the lease of `peer` is not over. A link that has ended keeps it until its end is reported.
  bool has_lease(PeerId peer) const;

  // Appends what has happened to `events`.
  void poll(std::vector<LinkEvent>& events);
  // Returns when poll() must be called even if nothing happens.
  std::optional<Nanoseconds> due() const;
  // Sleeps until poll() may have something, `limit` at most.
  void wait(Nanoseconds limit);

 private:
  // The caller greets first, and the other end answers. The caller then speaks, so that the other end knows that it
  // may: messages may overtake the answer.
  enum class State : uint8_t { connecting, greeting, answered, ready, ending };

  struct Peer {
    bool caller = false;  // this end has connected to it
    State state = State::connecting;
    std::string address;
    Terms terms = {};
    Nanoseconds since{0};  // it has been in this state
    Nanoseconds heard{0};
    Nanoseconds spoke{0};
    Nanoseconds renewed{0};      // when what the peer has answered last was sent
    int64_t stamp = 0;           // the latest one of the peer
    size_t outstanding = 0;      // sends and receives that have not ended
    std::set<uint64_t> waiting;  // arrivals of bulk data
    bool told = false;           // `ready` was reported
    std::optional<Status> end;   // why it is ending; none: its caller knows
  };

  void take(TransportEvent& event, std::vector<LinkEvent>& events);
  void greet(PeerId name, Peer& peer);
  void hear(PeerId name, Peer& peer, TransportEvent& event, std::vector<LinkEvent>& events);
  Status hear_greeting(PeerId name, Peer& peer, const TransportEvent& event);
  void hear_message(PeerId name, Peer& peer, TransportEvent& event, std::vector<LinkEvent>& events);
  Status take_head(Peer& peer, std::vector<std::byte>& body) const;
  void become_ready(PeerId name, Peer& peer, std::vector<LinkEvent>& events);
  Nanoseconds end_of_time(const Peer& peer) const;
  void send_greeting(PeerId name, Peer& peer);
  void send_message(PeerId name, Peer& peer, std::span<const std::byte> body, std::span<const iovec> bulk,
                    uint64_t tag);
  void keep_time(std::vector<LinkEvent>& events);
  void fail(LinkEvent::Kind kind, PeerId name, uint64_t tag);
  void end(PeerId name, Peer& peer, std::optional<Status> why);
  void bury(std::vector<LinkEvent>& events);

  Transport& transport_;
  const Clock& clock_;
  Log& log_;
  const Terms terms_;
  const Options options_;
  std::map<PeerId, Peer> peers_;
  std::vector<LinkEvent> late_;  // ends of calls on links that had ended
  std::vector<TransportEvent> raw_;
  std::vector<std::byte> head_;  // used again for each message
};

}  // namespace tailrace::impl
