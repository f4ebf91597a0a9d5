// Admission: lets an application's iterations and blocks in, as long as there is room for them; where there is none,
// does as `when_full` says: waits, drops the whole iteration, or has a block written through.
//
// The client's thread.
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
#include "model/config.hpp"

namespace tailrace::impl {

class Admission {
 public:
  using Iteration = OpenIterations::Iteration;

  // All but `when_full` are borrowed. `unfinished`: of the channel; `iterations`: those that are let in.
  Admission(WhenFull when_full, IterationTable<>& unfinished, OpenIterations& iterations, ServerLink& link,
            ClientMemory& memory, ClientMeter& meter, Log& log)
      : when_full_(when_full),
        link_(link),
        memory_(memory),
        meter_(meter),
        log_(log),
        unfinished_(unfinished),
        iterations_(iterations) {}

  // The iteration of a verb, begun if need be, now or after a wait; TAILRACE_DROPPED if the policy gives it up now.
  // It may have been given up before.
  Result<Iteration*> begin(int64_t iteration);
  // Opens the iteration for a block; TAILRACE_DROPPED if it has been given up.
  Result<Iteration*> open(int64_t iteration);
  // A block of the pool, now or after a wait. TAILRACE_TOO_LARGE if there can never be one, TAILRACE_DROPPED if the
  // policy gave the iteration up. No block if `may_pass` and the policy is to write through.
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

  // The client's thread only.
  IterationTable<>& unfinished_;
  OpenIterations& iterations_;
  bool warned_ = false;  // of waiting for iterations to leave
};

}  // namespace tailrace::impl
