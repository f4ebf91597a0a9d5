#include "channel/channel_ends.hpp"

#include <atomic>

namespace tailrace::impl {

// relaxed: only servers write it, one after another.
ChannelEnds::ChannelEnds(Channel& channel) : channel_(channel), life_(channel.life.load(std::memory_order_relaxed)) {}

void ChannelEnds::take_over() {
  // release: the client that sees this life sees the last marks of the one before; partner: ServerLink::life().
  channel_.life.store(++life_, std::memory_order_release);
}

void ChannelEnds::give_back(uint32_t block, uint64_t sequence) {
  note_end(block, sequence);
  channel_.returned.push(block);
  // relaxed: only servers write it. After the push: if the server dies between the two, the client looks hungrier,
  // not less.
  channel_.given_back.store(channel_.given_back.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  // relaxed: if the server does not see the client wait yet, the client rings it, and it calls wake_if_memory_came().
  if (channel_.hungry.load(std::memory_order_relaxed) != 0) channel_.client_bell.ring();
}

void ChannelEnds::note_end(uint32_t block, uint64_t sequence) {
  // release: the next server sees that the bytes are in the file; partner: the acquire in end_of().
  channel_.ended[block].store(EndedMark::make(life_, sequence), std::memory_order_release);
}

void ChannelEnds::keep(uint32_t block, uint64_t sequence) {
  // release: as in note_end().
  channel_.ended[block].store(EndedMark::make(life_, sequence, true), std::memory_order_release);
}

ClientEnds::BlockEnd ChannelEnds::end_of(uint32_t block) const {
  // acquire: partner of the release in note_end().
  const uint64_t mark = channel_.ended[block].load(std::memory_order_acquire);
  return {EndedMark::sequence(mark), EndedMark::held(mark)};
}

bool ChannelEnds::waits_for_memory() const {
  // acquire: partner of the release in ClientMemory::wait_for().
  const uint64_t told = channel_.hungry.load(std::memory_order_acquire);
  return told != 0 && told - 1 >= channel_.given_back.load(std::memory_order_relaxed);
}

void ChannelEnds::wake_if_memory_came() {
  // acquire: as in waits_for_memory().
  const bool waits = channel_.hungry.load(std::memory_order_acquire) != 0;
  if (waits && !channel_.returned.empty()) channel_.client_bell.ring();
}

void ChannelEnds::end_ticket(uint64_t ticket, bool ok) {
  channel_.tickets.end(ticket, ok);
  channel_.client_bell.ring();
}

void ChannelEnds::set_awaited(uint32_t clients) {
  // relaxed: no other data depends on it.
  channel_.awaited.store(clients, std::memory_order_relaxed);
}

void ChannelEnds::give_room(int64_t iteration) {
  channel_.unfinished.give_back(iteration);
  channel_.client_bell.ring();
}

void ChannelEnds::begun_by_any(int64_t iteration) {
  channel_.unfinished.begun_by_any(iteration);
  channel_.client_bell.ring();
}

void ChannelEnds::left_for_all(int64_t iteration) {
  channel_.unfinished.left(iteration);
  channel_.client_bell.ring();
}

}  // namespace tailrace::impl
