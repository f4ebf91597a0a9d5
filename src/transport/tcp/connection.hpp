// Connection: one connection of a transport over TCP, from its first byte to its end: the handshake, and frames both
// ways. It is the first one of its peer, or a further one, which joins the peer and carries pieces of bulk data only
// (frame_wire.hpp). The transport calls move() when its socket may have something.
//
// In a turn of the transport several connections may move at once, each on one thread. All members are that thread's
// then, and the transport's thread's between turns; what the connections of a peer share is in its Transfers.
//
// FrameReader takes what comes, FrameWriter what goes. Every send and receive ends with one event, also when the
// connection fails or is given up.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"
#include "transport/tcp/frame_reader.hpp"
#include "transport/tcp/frame_writer.hpp"
#include "transport/tcp/tls.hpp"
#include "transport/tcp/transfers.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

class Connection {
 public:
  static constexpr uint64_t kMostUnsent = uint64_t{1} << 20;  // bytes of frames for a caller that does not read

  // `joining`: a further connection whose peer has not taken it in yet.
  enum class Phase : uint8_t { connecting, greeting, joining, open, failed };

  // A further connection that calls names by this the peer that it belongs to.
  struct Join {
    Invitation invitation;
    std::shared_ptr<Transfers> transfers;  // of the peer
  };

  // `calls`: this end connects. Of a further connection, who calls says what it joins, and a listener sees it.
  Connection(PeerId id, FileDescriptor socket, std::shared_ptr<const Tls> tls, bool calls, std::string address,
             std::optional<Join> join = std::nullopt);

  PeerId id() const { return id_; }
  const std::string& address() const { return address_; }
  int socket() const { return socket_.get(); }
  Phase phase() const { return phase_; }
  bool calls() const { return calls_; }
  // Requires that it has failed.
  const Status& why() const { return why_; }

  const std::shared_ptr<Transfers>& transfers() const { return transfers_; }
  // Returns true if the peer has taken in this further connection.
  bool has_joined() const { return is_further_ && has_opened_; }
  // Returns true if the other end has said that it sends nothing more.
  bool is_left() const { return stream_.is_left(); }
  // Borrowed, to give it pieces.
  FrameWriter& writer() { return writer_; }

  // Does what can be done without waiting. Returns true if there may be more to do at once.
  bool move();
  // Sends what can be sent without waiting. Returns true if there may be more to send at once.
  bool write();
  // Ends the connection with failure, which the other end may hear of.
  void fail(Status why);

  // Sends an invitation, by the first connection of a listener.
  void invite(const Invitation& invitation);
  // Returns the invitation that has come, once, or none.
  std::optional<Invitation> take_invitation() { return reader_.take_invitation(); }
  // Returns the peer and the secret that a further connection has named to a listener, or null. It waits for join().
  const Invitation* asks() const { return reader_.asks(); }
  // Takes it in: it carries the bulk data of a peer from now on.
  void join(std::shared_ptr<Transfers> transfers);
  // A further connection says that it is there, if it has nothing else to say.
  void beat();
  // Returns true if nothing has come by it for this long. Call it from time to time.
  bool is_silent(Nanoseconds now, Nanoseconds limit);
  // Has a first connection take pieces to send by itself as it needs them, as the only one of a peer does, or leaves
  // it to others to deal them out: else it would send all of what has just been fetched before others get any.
  void deal_itself(bool itself) { deals_itself_ = itself; }

  // See Transport. After a failure they end at once.
  void send(std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag);
  void receive(uint64_t arrival, std::span<std::byte> into, uint64_t tag);
  void refuse(uint64_t arrival);

  // Between turns: counts the bulk data that it has moved, ends all if it has failed, and appends what has happened,
  // but for the beginning and the end of the connection itself.
  void take_events(std::vector<TransportEvent>& events);
  // Returns true if a move may take long: bulk data go or come.
  bool carries_bulk() const { return writer_.pieces() > 0 || transfers_->is_moving(); }

  // Ends everything that uses memory of the owner. What goes without it, such as a last message, still goes.
  void leave();
  // After leave(): returns true when the other end has had everything, or has closed.
  bool has_left();

 private:
  bool finish_connecting();
  bool greet();
  bool read_some();
  bool is_there() const { return phase_ == Phase::joining || phase_ == Phase::open; }
  void end_send(uint64_t tag, const Status& status);
  void end_all(const Status& status);

  const PeerId id_;
  const FileDescriptor socket_;
  const bool calls_;
  const std::string address_;
  TlsStream stream_;
  FrameReader reader_;
  FrameWriter writer_;
  Phase phase_;
  std::shared_ptr<Transfers> transfers_;  // of a listener's further connection, its own until it joins
  bool is_further_;
  std::optional<Invitation> to_join_;  // of a further connection that calls
  bool deals_itself_ = true;
  Status why_;
  bool has_opened_ = false;
  std::vector<TransportEvent> events_;  // not taken yet
  bool is_leaving_ = false;
  bool has_said_goodbye_ = false;

  uint64_t heard_then_ = 0;  // bytes at the first look since …
  Nanoseconds silent_since_{0};
};

}  // namespace tailrace::impl
