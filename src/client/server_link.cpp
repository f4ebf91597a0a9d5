#include "client/server_link.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::impl {
namespace {

// Longer than any program runs, and does not overflow in nanoseconds.
constexpr std::chrono::milliseconds kForever = std::chrono::hours{24 * 365 * 100};

}  // namespace

ServerLink::ServerLink(Place& place, ClientMeter& meter, bool tells_waits)
    : place_(place),
      channel_(place.channel()),
      meter_(meter),
      tells_waits_(tells_waits),
      sent_(channel_.returned.capacity(), 0),
      ticket_variable_(channel_.tickets.capacity(), TraceEvent::kNone) {}

Status ServerLink::send(Descriptor& descriptor) {
  if (Status lost = place_.lost(); !lost.ok()) return lost;
  descriptor.sequence = sequence_ + 1;
  if (!channel_.ring.push(descriptor)) {
    if (Status room = wait_for_room([&] { return channel_.ring.push(descriptor); }); !room.ok()) return room;
  }
  ++sequence_;
  place_.ring();
  return {};
}

Result<uint64_t> ServerLink::send_with_block(Descriptor& descriptor) {
  sent_[descriptor.bytes.block] = sequence_ + 1;
  if (Status sent = send(descriptor); !sent.ok()) {
    has_come_back(descriptor.bytes.block);
    return sent;
  }
  return descriptor.sequence;
}

Result<uint64_t> ServerLink::send_with_ticket(Descriptor& descriptor, uint32_t variable) {
  Result<OpenTicket> ticket = open_ticket(variable);
  if (!ticket.ok()) return ticket.status();
  descriptor.ticket = ticket.value().number();
  if (Status sent = send(descriptor); !sent.ok()) return sent;
  return ticket.value().sent();
}

Status ServerLink::ask(Descriptor descriptor, bool& in_use) {
  in_use = false;
  const Result<uint64_t> ticket = send_with_ticket(descriptor, TraceEvent::kNone);
  if (!ticket.ok()) return ticket.status();
  const Status ended = outwait(ticket.value());
  in_use = !ended.ok();
  return ended.ok() ? end_of(ticket.value()) : ended;
}

Result<uint64_t> ServerLink::send_flush(Verb verb) {
  Descriptor descriptor;
  descriptor.verb = verb;
  return send_with_ticket(descriptor, TraceEvent::kNone);
}

Result<OpenTicket> ServerLink::open_ticket(uint32_t variable) {
  uint64_t ticket = channel_.tickets.open();
  if (ticket == kNoTicket) {
    const Status room = wait_for_room([&] { return (ticket = channel_.tickets.open()) != kNoTicket; });
    if (!room.ok()) return room;
  }
  ticket_variable_[ticket % ticket_variable_.size()] = variable;
  return OpenTicket(channel_.tickets, ticket);
}

// The place looks after it has announced that the client sleeps, and so the server that is rung then knows it.
Status ServerLink::sleep_until(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) {
  const auto look = [&] {
    if (ready()) return true;
    if (tells_waits_) place_.ring();
    return false;
  };
  return place_.wait(look, timeout);
}

Status ServerLink::wait_for(uint64_t ticket, std::optional<std::chrono::milliseconds> timeout) {
  if (timeout) timeout = std::min(*timeout, kForever);
  return sleep_until([&] { return !is_pending(ticket); }, timeout);
}

Status ServerLink::outwait(uint64_t ticket) {
  const Nanoseconds start = meter_.now();
  Status ended = wait_for(ticket, std::nullopt);
  meter_.counters().waiting_ticket += meter_.now() - start;
  return ended;
}

Status ServerLink::end_of(uint64_t ticket) {
  // No failure is logged after its ticket has ended. So if there is no unseen failure, the log need not be searched.
  if (channel_.failures.unseen() > 0) {
    if (auto entry = channel_.failures.take(ticket)) return std::move(entry->status);
  }
  if (channel_.tickets.look(ticket) != TicketState::failed) return {};
  return Status(TAILRACE_IO_ERROR, "wait: this request failed, and its failure was already reported");
}

Status ServerLink::await(uint64_t ticket) {
  const Status ended = outwait(ticket);
  return ended.ok() ? end_of(ticket) : ended;
}

Status ServerLink::wait_for_room(FunctionRef<bool()> ready) {
  const Nanoseconds start = meter_.now();
  Status status = sleep_until(ready, std::nullopt);
  const Nanoseconds end = meter_.now();
  meter_.counters().waiting_memory += end - start;
  meter_.note(TraceEvent::What::wait_memory, TraceEvent::kNone, -1, start, end);
  return status;
}

bool ServerLink::take_loss() {
  const uint32_t losses = place_.losses();
  return std::exchange(losses_, losses) != losses;
}

uint32_t ServerLink::life() const {
  // acquire: every server before this life has pushed its last block; partner: ChannelEnds::take_over().
  return channel_.life.load(std::memory_order_acquire);
}

bool ServerLink::was_left_by_the_dead(uint32_t block, uint32_t life) const {
  if (sent_[block] == 0) return false;
  const uint64_t mark = channel_.ended[block].load(std::memory_order_acquire);
  const bool by_the_dead = EndedMark::is_earlier(mark, life);
  return by_the_dead && !EndedMark::held(mark) && EndedMark::sequence(mark) == sent_[block];
}

}  // namespace tailrace::impl
