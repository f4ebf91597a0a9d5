// VerbEnds: knows which verbs of a client have not ended, and reports their ends to the client.
//
// Runs on the server's thread.
#pragma once

#include <deque>

#include "base/function_ref.hpp"
#include "channel/client_ends.hpp"
#include "model/declarations.hpp"
#include "model/wire/descriptor_wire.hpp"
#include "server/verbs/unfinished.hpp"

namespace tailrace::impl {

class VerbEnds {
 public:
  // Borrows both arguments.
  VerbEnds(const Declarations& declared, ClientEnds& to_client) : declared_(declared), to_client_(to_client) {}

  // Notes that a verb begins.
  void begin(const Descriptor& descriptor) { unfinished_.add(descriptor.sequence); }
  // Notes that a verb has ended: flushes do not wait for it any more. The client learns of it later, or from another
  // part.
  void end_unseen(const Descriptor& descriptor) { unfinished_.end(descriptor.sequence); }
  // Notes that a verb has ended, and reports it to the client: a failure before the end of the ticket.
  void end(const Descriptor& descriptor, const Status& status);
  // Reports a failure to the client that belongs to none of its verbs.
  void tell(const Status& failure) { to_client_.report(kNoTicket, failure); }

  // Adds a flush or close, which waits for all verbs before it.
  void add_flush(const Descriptor& descriptor) { flushes_.push_back(descriptor); }
  // Returns true if all verbs have ended, and no flush waits.
  bool settled() const { return unfinished_.empty() && flushes_.empty(); }
  bool has_flushes() const { return !flushes_.empty(); }
  // Returns true if the client is closing, and waits for that to end.
  bool is_closing() const { return !flushes_.empty() && flushes_.back().verb == Verb::close; }
  // Answers the flushes whose verbs have all ended. Calls `before` before each answer.
  void answer_flushes(FunctionRef<void()> before);

 private:
  Status about(const Status& status, const Descriptor& descriptor) const;

  const Declarations& declared_;
  ClientEnds& to_client_;
  Unfinished unfinished_;
  std::deque<Descriptor> flushes_;
};

}  // namespace tailrace::impl
