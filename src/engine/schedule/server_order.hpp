// ServerOrder: the order in which a forwarder visits the data servers, so that forwarders spread over them.
//
// Forwarder N of servers 0 … S − 1 is in the server (N + m·turn) mod S at each turn, where m is the (N div S)-th
// number coprime to S, beginning again after the last. So the first S forwarders (m = 1) are the rows of a Latin
// square: at each turn each of them is in another server. Every further S forwarders are, too, in steps of another
// length; so at each turn F forwarders are at most ⌈F/S⌉ in one server, the least possible, and who shares a server
// with whom changes from turn to turn. Pure arithmetic.
#pragma once

#include <cstdint>

namespace tailrace::impl {

class ServerOrder {
 public:
  // Requires servers > 0.
  ServerOrder(uint32_t forwarder, uint32_t servers);

  // Returns the server that is visited at the turn, which may be negative.
  uint32_t at(int64_t turn) const;

 private:
  int64_t servers_;
  int64_t first_;
  int64_t step_;
};

}  // namespace tailrace::impl
