// BlockTransfer: carries the bytes of variables' blocks to the server and back: through the pool, or directly if the
// server reaches the client's memory.
//
// It takes memory whatever `when_full` says; a block that was admitted brings its own. Runs on the client's thread.
#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "base/memory/pool.hpp"
#include "base/status.hpp"
#include "client/client_memory.hpp"
#include "client/client_meter.hpp"
#include "client/open_iterations.hpp"
#include "client/server_link.hpp"
#include "model/shapes.hpp"

namespace tailrace::impl {

class BlockTransfer {
 public:
  using Iteration = OpenIterations::Iteration;

  // Borrows all its arguments.
  BlockTransfer(const Shapes& shapes, ServerLink& link, ClientMemory& memory, ClientMeter& meter)
      : shapes_(shapes), link_(link), memory_(memory), meter_(meter) {}

  // Returns the bytes of a block, by the variable's present layout.
  uint64_t bytes_of(uint32_t variable) const { return shapes_.of(variable)->bytes(); }

  // Copies a block into the pool, and returns the time when that was done. `start`: when the copying began, or would
  // have begun without a wait.
  Nanoseconds copy_in(PoolBlock block, const void* data, uint64_t bytes, Nanoseconds start);
  // Sends a block that is in the pool. `handed`: when the application handed it over; `ticket`: kNoTicket for none.
  Status send(uint32_t variable, Iteration& iteration, PoolBlock block, Nanoseconds handed, uint64_t ticket);
  // Sends a block from where it is. If the server sees only the pool, copies it and sends the copy. Returns the
  // ticket; when it has ended, the caller may use the memory again.
  Result<uint64_t> borrow(uint32_t variable, Iteration& iteration, const void* data, Nanoseconds start);
  // Reads a block and waits for it; returns its ticket, which has ended.
  Result<uint64_t> read(uint32_t variable, int64_t iteration, void* data, Nanoseconds start);

 private:
  Result<uint64_t> send_copied(uint32_t variable, Iteration& iteration, const void* data, Nanoseconds start);
  Result<uint64_t> send_read(uint32_t variable, int64_t iteration, const Descriptor::Bytes& bytes);
  Result<uint64_t> read_by_pool(uint32_t variable, int64_t iteration, void* data, Nanoseconds start);
  void count_accepted(uint32_t variable, Iteration& iteration);

  // Constant after construction. Only the client's thread uses the objects that they refer to.
  const Shapes& shapes_;
  ServerLink& link_;
  ClientMemory& memory_;
  ClientMeter& meter_;
};

}  // namespace tailrace::impl
