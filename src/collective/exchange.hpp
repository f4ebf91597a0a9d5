// Exchange: the messages of one collective access. A port: a door implements it with its MPI.
//
// No call waits. Messages of one kind between two processes keep their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collective/contribution.hpp"
#include "collective/message.hpp"

namespace tailrace::collective {

enum class Kind : uint8_t {
  to_aggregator,  // from a member: a part of a write, or a request of a read
  to_member,      // from an aggregator: the end of a write, or the reply to a request
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual uint32_t rank() const = 0;
  // Begins to give the contribution to all processes, once.
  virtual void gather(const Contribution& mine) = 0;
  // Returns all contributions by rank; null: they are not here yet.
  virtual const std::vector<Contribution>* gathered() = 0;

  virtual void send(Kind kind, uint32_t to, Message message) = 0;
  // Returns how many messages for that aggregator are still being sent.
  virtual size_t unsent(uint32_t to) = 0;
  // Returns true if nothing is being sent any more.
  virtual bool all_sent() = 0;
  // Returns the next message from that process, if it is here.
  virtual std::optional<Message> receive(Kind kind, uint32_t from) = 0;
};

}  // namespace tailrace::collective
