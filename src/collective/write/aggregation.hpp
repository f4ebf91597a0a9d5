// Aggregation: what one process does as an aggregator: it receives parts, writes cycles, and reports their end to the
// members.
#pragma once

#include <cstdint>
#include <vector>

#include "collective/exchange.hpp"
#include "collective/plan.hpp"
#include "collective/write/aggregator.hpp"
#include "collective/write/sink.hpp"

namespace tailrace::collective {

class Aggregation {
 public:
  Aggregation(std::vector<Stream> streams, uint64_t cycle_bytes, bool is_static)
      : streams_(std::move(streams)), aggregator_(streams_.size(), cycle_bytes, is_static) {}

  // Returns true if the process itself may give its next part to itself, by take_own().
  bool wants_own(uint32_t rank) const;
  void take_own(uint32_t rank, Message part);
  // Continues. Returns true if anything has happened.
  bool progress(Exchange& exchange, Sink& sink);
  // Returns true when all is written and the members know it.
  bool has_ended() const { return ended_; }
  int error() const { return error_; }

 private:
  size_t own_stream(uint32_t rank) const;
  bool receive(Exchange& exchange);
  void report(Exchange& exchange) const;

  std::vector<Stream> streams_;  // to this process
  Aggregator aggregator_;
  bool ended_ = false;
  int error_ = 0;
};

}  // namespace tailrace::collective
