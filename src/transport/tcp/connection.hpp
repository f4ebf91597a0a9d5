// Connection: one connection of a transport over TCP, from its first byte to its end: the handshake, frames both
// ways, and the bulk data that wait, go and come. The transport calls move() when its socket may have something.
// Connections share nothing that changes, so several of them may move at once, each on one thread.
//
// It takes nothing from the other end on trust: each number is checked before memory is used for it. Every send and
// receive ends with one event, also when the connection fails or is given up.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"
#include "transport/tcp/frame_wire.hpp"
#include "transport/tcp/tls.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

class Connection {
 public:
  static constexpr size_t kMostWhole = size_t{16} << 10;      // bytes of bulk data that travel with their head
  static constexpr size_t kMostArrivals = 65536;              // messages whose bulk data nobody has fetched
  static constexpr uint64_t kMostKept = uint64_t{16} << 20;   // bytes of those that came with their heads
  static constexpr size_t kMostAtOnce = size_t{1} << 20;      // bytes that one move() reads or writes
  static constexpr uint64_t kMostUnsent = uint64_t{1} << 20;  // bytes of frames for a caller that does not read

  enum class Phase : uint8_t { connecting, greeting, open, failed };

  // `calls`: this end connects.
  Connection(PeerId id, FileDescriptor socket, std::shared_ptr<const Tls> tls, bool calls, std::string address);

  PeerId id() const { return id_; }
  const std::string& address() const { return address_; }
  int socket() const { return socket_.get(); }
  Phase phase() const { return phase_; }
  bool calls() const { return calls_; }
  // Requires that it has failed.
  const Status& why() const { return why_; }

  // Does what can be done without waiting. Returns true if there may be more to do at once.
  bool move();
  // Sends what can be sent without waiting. Returns true if there may be more to send at once.
  bool write() { return phase_ == Phase::open && write_some(); }
  // Ends the connection with failure, which the other end may hear of.
  void fail(Status why);

  // See Transport. After a failure they end at once.
  void send(std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag);
  void receive(uint64_t arrival, std::span<std::byte> into, uint64_t tag);
  void refuse(uint64_t arrival);

  // Appends what has happened, but for the beginning and the end of the connection itself.
  void take_events(std::vector<TransportEvent>& events);
  // Returns true if a move may take long: bulk data go or come.
  bool carries_bulk() const { return !wanted_.empty() || !incoming_.empty(); }

  // Ends everything that uses memory of the owner. What goes without it, such as a last message, still goes.
  void leave();
  // After leave(): returns true when the other end has had everything, or has closed.
  bool has_left();

 private:
  // A frame that is ready to go, but for bulk data that go behind it.
  struct Frame {
    std::vector<std::byte> bytes;
    std::optional<uint64_t> tag;  // of a send that ends with it
  };
  // Bulk data of ours.
  struct Outgoing {
    std::vector<iovec> segments;
    uint64_t left = 0;  // bytes
    size_t segment = 0;
    size_t offset = 0;  // in the segment
    uint64_t tag = 0;
    bool is_wanted = false;
  };
  // Bulk data of the other end that nobody has fetched.
  struct Arrival {
    uint64_t number = 0;  // 0: they came with their head
    uint64_t bytes = 0;
    std::vector<std::byte> kept;
  };
  struct Incoming {
    std::span<std::byte> into;
    size_t done = 0;
    uint64_t tag = 0;
  };

  bool finish_connecting();
  bool greet();
  bool read_some();
  std::span<std::byte> next_part();
  void take_part(size_t bytes);
  void check_head();
  void check_bulk();
  void end_frame();
  void deliver();
  bool write_some();
  bool fill();
  bool write_frame();
  bool write_piece();
  bool put(std::span<const std::byte> bytes, size_t& done);
  void queue(const FrameHead& head, std::span<const std::byte> body, std::span<const iovec> bulk,
             std::optional<uint64_t> tag);
  void break_off(const char* reason);
  void end_send(uint64_t tag, const Status& status);
  void end_all(const Status& status);

  const PeerId id_;
  const FileDescriptor socket_;
  const bool calls_;
  const std::string address_;
  TlsStream stream_;
  Phase phase_;
  Status why_;
  std::vector<TransportEvent> events_;  // that nobody has taken
  bool is_leaving_ = false;
  bool has_said_goodbye_ = false;

  // Sending.
  std::deque<Frame> frames_;
  size_t frame_done_ = 0;                            // bytes of the first one
  uint64_t unsent_ = 0;                              // bytes of all
  std::unordered_map<uint64_t, Outgoing> outgoing_;  // by number
  std::deque<uint64_t> wanted_;                      // numbers, in the order in which they are fetched
  uint64_t piece_ = 0;           // bytes that are left of a frame of bulk data, of the first of these
  bool has_piece_head_ = false;  // its head, the first frame, has not gone
  uint64_t last_number_ = 0;

  // Receiving.
  FrameHead head_;
  size_t head_done_ = 0;  // bytes of it
  size_t body_done_ = 0;  // bytes behind it
  std::vector<std::byte> body_;
  std::unordered_map<uint64_t, Arrival> arrivals_;   // by the number that the owner has
  uint64_t last_announced_ = 0;                      // number of the other end's
  std::unordered_map<uint64_t, Incoming> incoming_;  // by number
  uint64_t kept_ = 0;                                // bytes
  uint64_t last_arrival_ = 0;
};

}  // namespace tailrace::impl
