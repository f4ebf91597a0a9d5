// ClientEnds: the server's path back to one client. Through it the server ends the client's tickets, returns its
// memory, reports failures, and counts its own work.
//
// A port: `ChannelEnds` implements it on shared memory. Only the server's thread calls these functions; none of them
// waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "channel/counters.hpp"
#include "channel/file_log.hpp"
#include "channel/iteration_log.hpp"

namespace tailrace::impl {

class ClientEnds {
 public:
  // The end of the last verb that used a block of the pool.
  struct BlockEnd {
    uint64_t sequence = 0;  // of that verb; 0: no verb has ended with the block
    bool kept = false;      // the bytes are in their file, but the client has not got the block back
  };

  virtual ~ClientEnds() = default;

  // ---- memory ----
  // Returns the bytes of the client's pool at the server's addresses. They live as long as this object.
  virtual std::span<std::byte> memory() const = 0;
  // Returns the most blocks that the pool can have: blocks are numbered from 0.
  virtual uint32_t blocks() const = 0;
  // Notes that the verb `sequence` has ended with the block, and returns the block to the client.
  virtual void give_back(uint32_t block, uint64_t sequence) = 0;
  // Notes the end without returning the block: the client reclaims it by itself when it sees the verb's end.
  virtual void note_end(uint32_t block, uint64_t sequence) = 0;
  // Notes the end, and keeps the block until give_back().
  virtual void keep(uint32_t block, uint64_t sequence) = 0;
  // Returns the latest end of the block that this server or an earlier one has noted.
  virtual BlockEnd end_of(uint32_t block) const = 0;
  // Returns true if the client waits for memory and has seen all blocks that were returned.
  virtual bool waits_for_memory() const = 0;
  // Wakes the client if it waits for memory and can take some.
  virtual void wake_if_memory_came() = 0;
  // Returns true if the shared memory is lost: its contents are invalid from then on.
  virtual bool is_lost() const = 0;

  // ---- verbs ----
  // Returns true if the client sleeps until the server has done something.
  virtual bool sleeps() const = 0;
  // Returns true if the server has taken all that the client has sent so far.
  virtual bool has_sent_no_more() const = 0;
  // Ends the ticket, and wakes the client.
  virtual void end_ticket(uint64_t ticket, bool ok) = 0;
  // Returns true if the ticket has not ended. An earlier server may have ended it.
  virtual bool is_pending(uint64_t ticket) const = 0;
  // Reports a failure: of the verb with that ticket; or, with kNoTicket, of a verb without one, or of no verb.
  virtual void report(uint64_t ticket, const Status& failure) = 0;
  // Tells the client how many other clients its close is waiting for.
  virtual void set_awaited(uint32_t clients) = 0;

  // ---- iterations ----
  // Returns the most iterations that may be unfinished at once.
  virtual uint32_t iteration_limit() const = 0;
  virtual void set_iteration_limit(uint32_t limit) = 0;
  // Reports that the client's own iteration has left, so that the client may begin another one. Wakes it.
  virtual void give_room(int64_t iteration) = 0;
  // Reports that some client has begun the iteration, which all share. Wakes the client.
  virtual void begun_by_any(int64_t iteration) = 0;
  // Reports that the shared iteration has left. Wakes the client.
  virtual void left_for_all(int64_t iteration) = 0;
  // Forgets the shared iterations that an earlier server has noted.
  virtual void forget_shared() = 0;

  // ---- measurements: the server adds to them, the client reads them ----
  virtual ServerCounters& counters() = 0;
  virtual std::span<VariableCounters> variables() = 0;
  virtual IterationLog& iterations() = 0;
  virtual FileLog& files() = 0;

  // Takes the client over from an earlier server. Called before all other functions.
  virtual void take_over() = 0;
};

}  // namespace tailrace::impl
