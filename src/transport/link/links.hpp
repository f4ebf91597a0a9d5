// Links: authenticated connections over a transport. It makes the handshake of each connection, seals what is sent,
// checks what comes, and notices peers that have fallen silent.
//
// Both ends of forwarding use it; it knows nothing of the messages' meaning. A peer that has not proved that it has
// the key is never heard: all that its caller sees of it is a line in the log. An idle connection carries a beat, so
// that a peer whose node is gone is noticed within Options::silence. Bulk data are encrypted if one of the ends wants
// that. One thread; poll() must be called at due().
//
// With Options::lease, this end may act for a peer only for so long after it sent something that the peer has
// answered. The peer, which counts from the last message that it has got, knows when that time is over, although
// messages may be late or lost (docs/decisions/013-fence.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/status.hpp"
#include "transport/secure/forward_key.hpp"
#include "transport/secure/handshake.hpp"
#include "transport/secure/seal.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

struct LinkEvent {
  enum class Kind : uint8_t {
    ready,     // the peer has proved that it has the key; `terms`: what it told
    message,   // a message: `body`, and `bulk` bytes that wait for receive() or refuse()
    sent,      // a send has ended, and its memory is free; `status`
    received,  // the bulk data are there and unchanged, or are not; `status`
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
  static constexpr size_t kMostBody = Transport::kMostHead - 256;

  struct Options {
    Nanoseconds greeting = std::chrono::seconds(2);         // limit for connection and handshake
    Nanoseconds beat = std::chrono::milliseconds(400);      // an idle link sends this often
    Nanoseconds silence = std::chrono::milliseconds(1900);  // a peer that is silent for so long is lost
    size_t most_strangers = 64;                             // connections without a handshake; the oldest gives way
    Nanoseconds lease{0};                                   // a link ends when its lease does; 0: there is none
    uint16_t version = 2;                                   // of the messages
    bool encrypts_bulk = false;                             // of links where one of the ends wants it
  };

  // Borrows all but the key and the options. `terms` is told to each peer; their last byte belongs to the links.
  Links(Transport& transport, const Clock& clock, Log& log, const ForwardKey& key, const Terms& terms,
        const Options& options);
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
  // receive() end with failure, before `lost`. Encrypted bulk data are written to `own`, memory of the caller in
  // which `bulk` lies, as Sealer::seal_hidden requires; without `own`, into a copy that is kept until the send has
  // ended.
  static constexpr uint64_t kMostTag = uint64_t{1} << 62;
  void send(PeerId peer, std::span<const std::byte> body, std::span<const iovec> bulk, uint64_t tag,
            std::span<std::byte> own = {});
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
  void wait(Nanoseconds limit) { transport_.wait(limit); }

 private:
  enum class State : uint8_t { connecting, greeting, proving, ready, ending };

  struct Arriving {
    BulkTag tag;
    std::span<std::byte> into = {};
  };
  struct Peer {
    bool caller = false;  // this end has connected to it
    State state = State::connecting;
    std::string address;
    std::optional<ClientHandshake> client;
    std::optional<ServerHandshake> server;
    std::optional<Sealer> sealer;
    std::optional<Opener> opener;
    Terms terms = {};
    Nanoseconds since{0};  // it has been in this state
    Nanoseconds heard{0};
    Nanoseconds spoke{0};
    Nanoseconds renewed{0};                             // when what the peer has answered last was sent
    int64_t stamp = 0;                                  // the latest one of the peer
    size_t outstanding = 0;                             // sends and receives that have not ended
    std::map<uint64_t, BulkTag> waiting;                // by arrival
    std::map<uint64_t, Arriving> arriving;              // by tag
    std::map<uint64_t, std::vector<std::byte>> hidden;  // encrypted bulk data under way; by tag
    bool encrypts = false;                              // bulk data, too
    bool told = false;                                  // `ready` was reported
    bool refused = false;                               // it was told why it may not come in
    std::optional<Status> end;                          // why it is ending; none: its caller knows
  };

  void take(TransportEvent& event, std::vector<LinkEvent>& events);
  void greet(PeerId name, Peer& peer);
  void hear(PeerId name, Peer& peer, TransportEvent& event, std::vector<LinkEvent>& events);
  Status hear_greeting(PeerId name, Peer& peer, std::span<const std::byte> head);
  void take_keys(Peer& peer, const SessionKeys& keys) const;
  void hear_sealed(PeerId name, Peer& peer, TransportEvent& event, std::vector<LinkEvent>& events);
  Status take_head(Peer& peer, std::vector<std::byte>& body) const;
  void become_ready(PeerId name, Peer& peer, std::vector<LinkEvent>& events);
  void check_bulk(PeerId name, Peer& peer, TransportEvent& event, std::vector<LinkEvent>& events);
  void put_head(const Peer& peer, std::span<const std::byte> body);
  Nanoseconds end_of_time(const Peer& peer) const;
  void send_plain(PeerId name, Peer& peer, std::span<const std::byte> head);
  void send_sealed(PeerId name, Peer& peer, std::span<const std::byte> body, std::span<const iovec> bulk,
                   uint64_t tag);
  void send_hidden(PeerId name, Peer& peer, std::span<const std::byte> body, std::span<const iovec> bulk,
                   uint64_t tag, std::span<std::byte> own);
  void keep_time(std::vector<LinkEvent>& events);
  void limit_strangers();
  void fail(LinkEvent::Kind kind, PeerId name, uint64_t tag);
  void end(PeerId name, Peer& peer, std::optional<Status> why);
  void bury(std::vector<LinkEvent>& events);

  Transport& transport_;
  const Clock& clock_;
  Log& log_;
  const ForwardKey key_;
  const Terms terms_;
  const Options options_;
  std::map<PeerId, Peer> peers_;
  std::vector<LinkEvent> late_;  // ends of calls on links that had ended
  std::vector<TransportEvent> raw_;
  // Used again for each message.
  std::vector<std::byte> body_;
  std::vector<std::byte> head_;
};

}  // namespace tailrace::impl
