#include "client/block_transfer.hpp"

#include <cstring>

#include "base/memory/stream_copy.hpp"

namespace tailrace::impl {

Nanoseconds BlockTransfer::copy_in(PoolBlock block, const void* data, uint64_t bytes, Nanoseconds start) {
  if (bytes > 0) stream_copy(memory_.at(block), static_cast<const std::byte*>(data), bytes);
  const Nanoseconds copied = meter_.now();
  meter_.counters().copying += copied - start;
  return copied;
}

Status BlockTransfer::send(uint32_t variable, Iteration& iteration, PoolBlock block, Nanoseconds handed,
                           uint64_t ticket) {
  Descriptor descriptor;
  descriptor.verb = Verb::write;
  descriptor.variable = variable;
  descriptor.iteration = iteration.number;
  descriptor.ticket = ticket;
  descriptor.bytes = {block.offset, bytes_of(variable), block.index, 0, handed.count()};
  const Result<uint64_t> sent = link_.send_with_block(descriptor);
  if (!sent.ok()) {
    memory_.free(block);
    return sent.status();
  }
  count_accepted(variable, iteration);
  return {};
}

Result<uint64_t> BlockTransfer::borrow(uint32_t variable, Iteration& iteration, const void* data, Nanoseconds start) {
  if (!link_.reaches_client()) return send_copied(variable, iteration, data, start);
  Descriptor descriptor;
  descriptor.verb = Verb::borrow;
  descriptor.variable = variable;
  descriptor.iteration = iteration.number;
  descriptor.bytes = {reinterpret_cast<uint64_t>(data), bytes_of(variable), kNoBlock, 0, start.count()};
  const Result<uint64_t> ticket = link_.send_with_ticket(descriptor, variable);
  if (ticket.ok()) count_accepted(variable, iteration);
  return ticket;
}

Result<uint64_t> BlockTransfer::send_copied(uint32_t variable, Iteration& iteration, const void* data,
                                            Nanoseconds start) {
  const uint64_t bytes = bytes_of(variable);
  const Nanoseconds waited = meter_.waited_for_room();
  Result<OpenTicket> ticket = link_.open_ticket(variable);
  if (!ticket.ok()) return ticket.status();
  const Result<PoolBlock> block = memory_.take(bytes);
  if (!block.ok()) return block.status();
  const Nanoseconds copied = copy_in(block.value(), data, bytes, start + (meter_.waited_for_room() - waited));
  if (Status sent = send(variable, iteration, block.value(), copied, ticket.value().number()); !sent.ok())
    return sent;
  return ticket.value().sent();
}

void BlockTransfer::count_accepted(uint32_t variable, Iteration& iteration) {
  ++iteration.blocks;
  meter_.count_accepted(variable);
}

Result<uint64_t> BlockTransfer::read(uint32_t variable, int64_t iteration, void* data, Nanoseconds start) {
  if (!link_.reaches_client()) return read_by_pool(variable, iteration, data, start);
  const Result<uint64_t> ticket = send_read(
      variable, iteration, {reinterpret_cast<uint64_t>(data), bytes_of(variable), kNoBlock, 0, start.count()});
  if (!ticket.ok()) return ticket;
  if (Status waited = link_.wait_for(ticket.value(), std::nullopt); !waited.ok()) return waited;
  return ticket;
}

Result<uint64_t> BlockTransfer::read_by_pool(uint32_t variable, int64_t iteration, void* data, Nanoseconds start) {
  const uint64_t bytes = bytes_of(variable);
  const Result<PoolBlock> block = memory_.take(bytes);
  if (!block.ok()) return block.status();
  const PoolBlock& at = block.value();
  const Result<uint64_t> ticket = send_read(variable, iteration, {at.offset, bytes, at.index, 0, start.count()});
  if (!ticket.ok()) {
    memory_.free(at);
    return ticket;
  }
  if (Status waited = link_.wait_for(ticket.value(), std::nullopt); !waited.ok()) return waited;
  if (link_.is_done(ticket.value()) && bytes > 0) std::memcpy(data, memory_.at(at), bytes);
  memory_.free(at);
  return ticket;
}

Result<uint64_t> BlockTransfer::send_read(uint32_t variable, int64_t iteration, const Descriptor::Bytes& bytes) {
  Descriptor descriptor;
  descriptor.verb = Verb::read;
  descriptor.variable = variable;
  descriptor.iteration = iteration;
  descriptor.bytes = bytes;
  return link_.send_with_ticket(descriptor, variable);
}

}  // namespace tailrace::impl
