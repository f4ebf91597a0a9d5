// ActionPort: what a client's server asks and tells on behalf of the actions of its node: which blocks must stay in
// memory, what was raised, and what has left.
//
// Without actions there is none. See ServerActions, which is one.
#pragma once

#include <cstdint>
#include <string>

#include "model/block.hpp"
#include "model/wire/descriptor_wire.hpp"

namespace tailrace::impl {

class ActionPort {
 public:
  virtual ~ActionPort() = default;

  // A block of the pool has come, by this verb. `written`: an earlier server had written it, and held its memory.
  virtual void came(const Block& block, const Descriptor& verb, bool written) = 0;
  // Its bytes are in the file, or will never be. Whether its memory stays; then Server::give_back() ends that.
  virtual bool keeps(int client, const Descriptor& block) = 0;
  // Returns true if the block of that verb is kept.
  virtual bool holds(int client, uint64_t sequence) const = 0;
  virtual void raised(int client, const std::string& event, int64_t iteration) = 0;
  // The client ends the iteration: told before its files are. Returns whether its publication has to wait for other
  // clients.
  virtual bool ending(int client, int64_t iteration) = 0;
  // The client gives the iteration up, likewise.
  virtual void dropping(int client, int64_t iteration) = 0;
  // The iteration, which the client had ended or dropped, has left its files.
  virtual void left(int client, int64_t iteration) = 0;
};

}  // namespace tailrace::impl
