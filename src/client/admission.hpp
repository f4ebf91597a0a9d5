// Admission: admits an application's iterations and blocks while there is room for them. When there is none, it does
// what `when_full` says: it waits, drops the whole iteration, or has the block written through.
//
// Runs on the client's thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/log.hpp"
#include "base/memory/pool.hpp"
#include "base/status.hpp"
#include "channel/channel.hpp"
#include "client/client_memory.hpp"
#include "client/client_meter.hpp"
#include "client/open_iterations.hpp"
#include "client/server_link.hpp"
#include "model/config/settings.hpp"

namespace tailrace::impl {

class Admission {
 public:
  using Iteration = OpenIterations::Iteration;

  // Borrows all but `when_full`. `unfinished` is the channel's table; `iterations` are the admitted ones.
  Admission(WhenFull when_full, IterationTable<>& unfinished, OpenIterations& iterations, ServerLink& link,
            ClientMemory& memory, ClientMeter& meter, Log& log)
      : when_full_(when_full),
        link_(link),
        memory_(memory),
        meter_(meter),
        log_(log),
        unfinished_(unfinished),
        iterations_(iterations) {}

  // Returns the iteration of a verb, which it begins if need be, now or after a wait; TAILRACE_DROPPED if the policy
  // drops it now. An iteration that was dropped before is returned, too.
  Result<Iteration*> begin(int64_t iteration);
  // Opens the iteration for a block; returns TAILRACE_DROPPED if it has been dropped.
  Result<Iteration*> open(int64_t iteration);
  // Returns a block of the pool, now or after a wait. Returns TAILRACE_TOO_LARGE if it never fits, TAILRACE_DROPPED
  // if the policy dropped the iteration, and no block if `may_pass` and the policy is to write through.
  Result<std::optional<PoolBlock>> take_memory(uint64_t bytes, Iteration& iteration, bool may_pass);

 private:
  Status room_for_iteration(int64_t iteration);
  Result<std::optional<PoolBlock>> wait_for_memory(uint64_t bytes);
  Result<std::optional<PoolBlock>> look_for_memory(uint64_t bytes, Iteration& iteration);
  Status drop(Iteration& iteration, uint64_t unfinished);

  // Constant after construction.
  const WhenFull when_full_;
  ServerLink& link_;
  ClientMemory& memory_;
  ClientMeter& meter_;
  Log& log_;

  // Used by the client's thread only.
  IterationTable<>& unfinished_;
  OpenIterations& iterations_;
  bool warned_ = false;  // that the program waits for iterations to leave
};

}  // namespace tailrace::impl
