// ForwarderSet: the links of a node to its forwarders. It connects, and does so again after a loss, sends messages
// within each forwarder's window, and makes calls: those that wait for their answer, and those whose answer is an
// event.
//
// It knows neither files nor transfers, and decides nothing when a forwarder is lost: it reports the loss, with all
// that was unanswered. It knows until when a forwarder that was lost may still carry out what it was sent: for its
// lease, and for the time that the file system takes for a transfer. It tells each forwarder the list of all, which
// refuses it if another client of the same output has another list. One thread, the engine's.
//
// More than 35 functions: 11 are questions.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sync/doorbell.hpp"
#include "model/wire/forward_wire.hpp"
#include "storage/remote/forwarders/answers.hpp"
#include "transport/link/links.hpp"

namespace tailrace::impl {

struct ForwarderEvent {
  enum class Kind : uint8_t {
    sent,      // the bulk data of message `number` are not needed any more
    ended,     // the answer to transfers `number`: `results`, and `bulk` bytes that wait for receive() or refuse()
    received,  // the bulk data of receive() with tag `number` are there, or not: `status`
    answered,  // the call `number`: `answer` and `bytes`; none: its link is gone, and it is unknown whether it was
               // carried out
    failed,    // a write that was confirmed as received on the link `number` has failed: `loss`
    leaving,   // the forwarder will end when everything is answered
    lost       // the link `number` is gone; what was sent on it and not answered never will be
  };
  Kind kind = Kind::lost;
  size_t forwarder = 0;
  uint64_t number = 0;
  std::vector<int64_t> results = {};
  uint64_t bulk = 0;
  uint64_t arrival = 0;
  LossRecord loss = {};
  Status status = {};
  std::optional<ForwardAnswer> answer = {};
  std::vector<std::byte> bytes = {};
};

class ForwarderSet {
 public:
  struct Options {
    std::vector<std::string> addresses;             // "io1:4711"
    std::string output = {};                        // the same for all clients that must have the same list; "": none
    Nanoseconds answer = std::chrono::seconds(60);  // limit for a call of a forwarder that lives
    Nanoseconds grace = std::chrono::seconds(4);    // for the file system to end what it has begun
  };

  // Borrows all but the options.
  ForwarderSet(Links& links, const Clock& clock, Doorbell& doorbell, Log& log, Options options);

  size_t size() const { return forwarders_.size(); }
  const std::string& address(size_t forwarder) const { return forwarders_[forwarder].address; }
  // Returns true if the forwarder takes requests, or may: it was not lost and is not leaving.
  bool is_usable(size_t forwarder) const;
  // Returns true if it has said that it will end, and still answers.
  bool is_leaving(size_t forwarder) const { return forwarders_[forwarder].state == State::leaving; }
  // Returns true if transfers or calls that it was sent are not answered.
  bool is_busy(size_t forwarder) const {
    return !forwarders_[forwarder].unanswered.empty() || !forwarders_[forwarder].calls.empty();
  }
  // Returns true if it has a link, and has not said that it will end.
  bool is_ready(size_t forwarder) const { return forwarders_[forwarder].state == State::ready; }
  bool is_lost(size_t forwarder) const { return forwarders_[forwarder].state == State::lost; }
  // Returns true if calls can be made of it: it has a link.
  bool answers(size_t forwarder) const { return is_ready(forwarder) || is_leaving(forwarder); }
  // Returns true if the forwarder, which has no link, begins nothing more of what it was sent, and what it began had
  // its time.
  bool is_over(size_t forwarder) const { return clock_.now() >= forwarders_[forwarder].acts_until; }
  // Returns true if the last link was not made since the two ends have different keys.
  bool refuses_key(size_t forwarder) const;
  // Returns the link to the forwarder, the present one or the last. Each has a number of its own.
  uint64_t link(size_t forwarder) const { return forwarders_[forwarder].peer; }
  // Connects to all forwarders at once, so that those learn of the list that other nodes use, and waits for the
  // links. Fails if there is none, with all reasons. Who cannot be reached now is tried again when needed.
  Status reach_all();
  // Begins to connect, if there is no link yet, or it is lost; after a refusal it makes no more links.
  void connect(size_t forwarder);
  bool is_connecting(size_t forwarder) const { return forwarders_[forwarder].state == State::connecting; }
  // Returns ok if there is a link, or else why it was not made.
  Status connected(size_t forwarder) const;
  // Returns why a forwarder has refused this client's list, if one has: then no other forwarder may stand in for it.
  const Status& refusal() const { return refusal_; }

  // Connects, makes a call, and waits for its answer; events that come meanwhile wait for poll(). A Status is that of
  // the link: TAILRACE_SERVER_LOST if the forwarder is gone. Of a call with an answer, take status_of(). `bulk`:
  // where the bulk data of the answer go.
  Result<ForwardAnswer> call(size_t forwarder, const ForwardCallMessage& message, std::vector<std::byte>& bulk);
  // Makes a call: `answered` follows. Requires answers(). `bulk`: the answer may have bulk data.
  uint64_t begin_call(size_t forwarder, const ForwardCallMessage& message, bool bulk = false);
  // Sends transfers. Requires has_room(). `bulk` is borrowed until `sent` with the returned number.
  uint64_t send(size_t forwarder, std::span<const TransferRecord> records, std::span<const iovec> bulk);
  // Returns true if the forwarder has a link, and takes another message now.
  bool has_room(size_t forwarder) const;

  // Fetches the bulk data of `ended`, which came on `link`. `into` is borrowed until `received`.
  void receive(size_t forwarder, uint64_t link, uint64_t arrival, std::span<std::byte> into, uint64_t tag);
  // Ends the link: the forwarder counts as lost, and no event of it follows but `sent` and `received`.
  void give_up(size_t forwarder);
  // Says goodbye to a forwarder that is leaving and has answered everything. Call it when nothing needs it any more.
  void leave_leaving(size_t forwarder);
  // Says goodbye to all forwarders. Requires that everything is answered.
  void leave();

  // Appends what has happened.
  void poll(std::vector<ForwarderEvent>& events);
  std::optional<Nanoseconds> due() const;
  // Sleeps until poll() may have something, `limit` at most.
  void wait(Nanoseconds limit) { links_.wait(limit); }
  // Lets time pass, while links are served.
  void pause(Nanoseconds time);
  Nanoseconds now() const { return clock_.now(); }

 private:
  enum class State : uint8_t { idle, connecting, ready, leaving, lost };
  // A call that is not answered.
  struct Call {
    Nanoseconds until = Nanoseconds::max();  // when it must be answered
    bool wants_bulk = false;
    std::optional<ForwardAnswer> answer = std::nullopt;  // its bulk data are on their way
    std::vector<std::byte> bulk = {};
  };
  // A call that is not sent.
  struct QueuedCall {
    uint64_t number = 0;
    bool has_limit = true;
    std::vector<std::byte> body;
  };
  struct Forwarder {
    std::string address;
    State state = State::idle;
    PeerId peer = 0;
    uint64_t joining = 0;  // the call, while the link is made; 0: none
    bool leaves = false;   // it has said so while the link was made
    bool said_goodbye = false;
    uint32_t window = 1;
    Nanoseconds lease{0};
    Nanoseconds acts_until{0};                     // for the links so far
    std::map<uint64_t, uint32_t> unanswered = {};  // by number: the records of a message of transfers
    std::map<uint64_t, Call> calls = {};           // by number
    std::deque<QueuedCall> queued = {};            // those that the forwarder has no room for yet
    Status why = {};                               // why it was lost
  };
  static constexpr uint64_t kCallTag = uint64_t{1} << 61;

  Status reach(size_t forwarder);
  void join(Forwarder& of);
  void end_joining(size_t forwarder, const ForwardAnswer& answer);
  uint64_t send_call(Forwarder& of, const ForwardCallMessage& message, bool bulk);
  void send_queued(Forwarder& of);
  void end_call(size_t forwarder, uint64_t number, std::optional<ForwardAnswer> answer, std::vector<std::byte> bytes);
  void pump(Nanoseconds limit);
  void take(LinkEvent& event);
  void take_message(size_t forwarder, LinkEvent& event);
  void take_ends(size_t forwarder, const ForwardHead& head, LinkEvent& event);
  void take_answer(size_t forwarder, const ForwardHead& head, LinkEvent& event);
  void misbehaves(size_t forwarder, const std::string& how);
  void lose(size_t forwarder, const LinkEvent& end);
  void forget_calls(size_t forwarder);
  void end_late_calls();
  static Nanoseconds answer_due(const Forwarder& of);
  void says_nothing(size_t forwarder);
  void note_loss(Forwarder& of, Nanoseconds heard) const;
  std::optional<size_t> forwarder_of(PeerId peer) const;
  Status gone(size_t forwarder) const;

  Links& links_;
  const Clock& clock_;
  Doorbell& doorbell_;
  Log& log_;
  const Options options_;
  std::vector<Forwarder> forwarders_;
  Status refusal_;
  uint64_t next_number_ = 1;
  std::vector<std::vector<std::byte>> abandoned_;  // of calls that ended while their data came: they may still come
  std::deque<ForwarderEvent> events_;
  std::vector<LinkEvent> heard_;
  std::map<PeerId, size_t> former_;  // links that were given up, and may still report `sent` and `received`
};

// Returns a number of the text on which all nodes agree.
uint64_t hash_of(const std::string& text);

}  // namespace tailrace::impl
