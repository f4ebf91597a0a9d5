// Forwarder: serves clients on other nodes: takes their transfers and calls from links, has the engine carry them
// out, and answers.
//
// It is a state machine: its owner calls step() whenever there may be something to do. The bulk data of a message
// stay at the client until there is memory for them, and clients get it in turn, so that neither this end holds more
// than its memory nor one client keeps the others waiting. A client that does what it may not is cut off. It opens
// nothing itself: the engine's storage decides which paths there are.
//
// It begins nothing for a client whose link has ended, or whose lease is over (links.hpp): the client may have sent
// the same bytes, or newer ones, elsewhere. What the storage has already still ends. Only writes that were confirmed
// as received are carried out after the end of a client's process.
//
// More than 35 functions: it takes each message from its arrival to its answer, a function for each step.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "engine/engine.hpp"
#include "forward/forward_calls.hpp"
#include "forward/forward_client.hpp"
#include "forward/forward_files.hpp"
#include "forward/forward_memory.hpp"
#include "transport/link/links.hpp"

namespace tailrace::impl {

class Forwarder {
 public:
  struct Options {
    uint32_t window = 32;                         // messages of one client that may be unanswered
    uint32_t most_clients = 4096;                 // at once; those that have gone do not count
    uint32_t most_parts = 16384;                  // messages that have memory at once
    Nanoseconds lease = std::chrono::seconds(8);  // its links must have the same; a client may be busy for so long
    Nanoseconds patience = std::chrono::seconds(30);  // a client must fetch an answer within this time
    Nanoseconds drain = std::chrono::seconds(60);     // clients must leave within this time after leave()
    uint32_t most_overtaking = 32;                    // messages that may get memory before one that found no room
  };

  // Returns what its links tell clients.
  static ForwardTerms terms(const Options& options);

  // The state, for people; borrowed during the call.
  struct View {
    const std::map<uint64_t, ForwardClient>& clients;
    const ForwardMemory& memory;
    const std::map<uint32_t, uint64_t>& queued;  // bytes under way, by data server
    size_t files = 0;
    Engine::Counts counts;
  };
  // Writes the state as text, to answer a `status` call.
  using Describe = std::function<std::string(const View&)>;

  // Borrows all but the last two. `memory`: for the data under way; at least kMostForwarded.
  Forwarder(Links& links, Engine& engine, std::span<std::byte> memory, const Clock& clock, Log& log, Options options,
            Describe describe);
  ~Forwarder();

  // Takes what has come, and moves all work on. Returns true if another call may find something to do at once.
  bool step();
  // Returns when step() must be called even if nothing happens.
  std::optional<Nanoseconds> due() const;
  // Tells all clients that it will end; those that come later hear it at once.
  void leave();
  // Returns true if nothing is under way; after leave(): and all clients have gone, or had their time.
  bool is_idle() const { return works_.empty() && engine_.idle(); }
  bool has_left() const;

  // For reports: what each client holds of the memory, the most that all have held, and the open files.
  std::map<uint64_t, uint64_t> held_by_client() const;
  uint64_t memory_peak() const { return memory_.peak(); }
  size_t open_files() const { return files_.count(); }

 private:
  // A message of transfers that has memory, until its last answer was sent.
  struct Work final : public CompletionSink {
    Forwarder* of = nullptr;
    uint64_t tag = 0;     // its key in works_
    uint64_t client = 0;  // its client's in clients_
    uint64_t number = 0;
    std::vector<TransferRecord> records;
    std::vector<int64_t> results;
    ForwardMemory::Part memory;  // the writes' bytes, then the reads'
    bool has_memory = false;
    uint32_t left = 0;                     // requests that have not ended
    bool syncing = false;                  // the writes have ended, and are being made durable
    bool answered = false;                 // `received`: before the end of its requests
    std::optional<Nanoseconds> answering;  // when its answer with bulk data was sent

    void ended(const Request& request, const Status& status) override { of->ended(*this, request, status); }
  };
  // An answer with bulk data of its own.
  struct Text {
    uint64_t client = 0;
    std::vector<std::byte> bytes;
    Nanoseconds since{0};
  };

  void take(LinkEvent& event);
  void welcome(LinkEvent& event);
  bool make_place();
  void hear(ForwardClient& client, LinkEvent& event);
  void hear_transfers(ForwardClient& client, const ForwardHead& head, LinkEvent& event);
  void hear_call(ForwardClient& client, const ForwardHead& head, LinkEvent& event);
  size_t spoken_for() const { return owed_ + 2 * calls_under_way_; }
  bool begin_waiting_calls();
  bool has_earlier_calls(ForwardClient& client) const;
  Status join(ForwardClient& client, const ForwardCallMessage& call);
  size_t unanswered_calls(const ForwardClient& client) const;
  bool admit_waiting();
  bool admit(ForwardClient& client);
  bool must_wait_behind(const ForwardClient& client) const;
  void begin(Work& work);
  void submit(Work& work);
  void submit_record(Work& work, uint32_t index, std::byte* memory);
  void put(Work& work, Request request);
  bool look_for_end(Work& work, const Request& request, const Status& failure);
  void settle(Work& work, FileId file, uint32_t index, uint64_t bytes, const Status& status);
  void ended(Work& work, const Request& request, const Status& status);
  void finish(Work& work);
  bool make_durable(Work& work);
  void answer(Work& work);
  void send_answer(ForwardClient& client, uint64_t number, const ForwardAnswer& answer, std::vector<std::byte> bulk);
  void report_loss(Work& work, uint32_t index, const Status& status);
  void drop(uint64_t tag);
  void received(LinkEvent& event);
  void sent(LinkEvent& event);
  void lose(ForwardClient& client, bool fenced);
  void end_earlier_links(ForwardClient& client);
  bool may_begin(uint32_t client);
  void cut_off_fenced();
  void forget_gone();
  ForwardClient* client_of(PeerId peer);
  ForwardClient* present(uint64_t client);
  void distrust(ForwardClient& client, const std::string& why);

  Links& links_;
  Engine& engine_;
  const Clock& clock_;
  Log& log_;
  const Options options_;
  const Describe describe_;
  ForwardMemory memory_;
  ForwardFiles files_;
  ForwardCalls calls_;
  std::map<uint64_t, ForwardClient> clients_;        // by the number of the link, which is not used again
  std::map<uint64_t, std::unique_ptr<Work>> works_;  // by tag
  std::map<uint64_t, Text> texts_;                   // by tag
  std::map<uint32_t, uint64_t> queued_;              // bytes under way, by data server
  uint64_t next_tag_ = 1;
  uint64_t last_served_ = 0;  // the client that got memory last
  uint64_t starving_ = 0;     // the client whose message found no room first, and waits; 0: none
  uint32_t overtaking_ = 0;   // messages that have got memory since
  size_t owed_ = 0;           // requests that messages with memory may still need: for shorter reads, and syncs
  size_t calls_under_way_ = 0;
  bool calls_wait_ = false;  // perhaps: clients have calls that have not begun
  bool leaving_ = false;
  Nanoseconds left_at_{0};
  std::vector<LinkEvent> events_;
};

}  // namespace tailrace::impl
