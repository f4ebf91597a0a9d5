// ActionPort: through it a client's server serves the actions of its node. The server asks which blocks must stay in
// memory, and reports which events were raised and which iterations have left.
//
// If there are no actions, there is none. ServerActions implements it.
#pragma once

#include <cstdint>
#include <string>

#include "model/block.hpp"
#include "model/wire/descriptor_wire.hpp"

namespace tailrace::impl {

class ActionPort {
 public:
  virtual ~ActionPort() = default;

  // Reports a block of the pool that came with this verb. `written`: an earlier server had written it, and held its
  // memory.
  virtual void came(const Block& block, const Descriptor& verb, bool written) = 0;
  // Reports that the block's bytes are in the file, or never will be. Returns true if its memory must stay;
  // Server::give_back() then ends that.
  virtual bool keeps(int client, const Descriptor& block) = 0;
  // Returns true if the block of that verb is kept.
  virtual bool holds(int client, uint64_t sequence) const = 0;
  virtual void raised(int client, const std::string& event, int64_t iteration) = 0;
  // Reports that the client ends the iteration, before its files do. Returns true if its publication has to wait for
  // other clients.
  virtual bool ending(int client, int64_t iteration) = 0;
  // Reports that the client drops the iteration, before its files do.
  virtual void dropping(int client, int64_t iteration) = 0;
  // Reports that the iteration, which the client had ended or dropped, has left its files.
  virtual void left(int client, int64_t iteration) = 0;
};

}  // namespace tailrace::impl
