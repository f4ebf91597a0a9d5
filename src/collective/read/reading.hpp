// Reading: what one process does as an aggregator in a collective read: it receives requests, reads its file domain
// range by range, and replies.
//
// It moves on to another range when each member whose last request has not come has a request for a later one. So it
// reads each range once.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "collective/exchange.hpp"
#include "collective/plan.hpp"
#include "collective/read/read_range.hpp"
#include "collective/read/request.hpp"
#include "collective/read/source.hpp"

namespace tailrace::collective {

class Reading {
 public:
  // The streams of all members to this process, which has one domain. `range_bytes`: at once in memory.
  Reading(std::vector<Stream> streams, uint64_t range_bytes);

  // Returns true if the process itself may give its next request to itself, by ask_self(). self_reply() returns the
  // next reply to it, if there is one.
  bool wants_own(uint32_t rank) const;
  void ask_self(uint32_t rank, const Message& request);
  std::optional<Message> self_reply();
  // Continues. Returns true if anything has happened.
  bool progress(Exchange& exchange, Source& source);
  // Returns true when all requests have been replied to.
  bool has_ended() const { return unfinished_ == 0; }

 private:
  static constexpr size_t kRequestsAhead = 2;

  struct Member {
    std::deque<Request> requests;
    bool last_came = false;
  };

  size_t own_stream(uint32_t rank) const;
  bool wants(const Member& member) const { return !member.last_came && member.requests.size() < kRequestsAhead; }
  void take(Member& member, const Message& message);
  bool receive(Exchange& exchange);
  bool serve(Exchange& exchange, Source& source);
  bool move_on();
  Message reply(const Request& request, Source& source);

  std::vector<Stream> streams_;
  std::vector<Member> members_;  // by stream
  uint64_t range_bytes_;
  ReadRange range_;
  uint64_t at_ = UINT64_MAX;  // which range it is at; at first none
  size_t unfinished_;         // members with requests that are to come or to be replied to
  std::deque<Message> self_replies_;
};

}  // namespace tailrace::collective
