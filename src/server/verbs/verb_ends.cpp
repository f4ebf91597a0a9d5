#include "server/verbs/verb_ends.hpp"

#include <fmt/format.h>

#include <utility>

namespace tailrace::impl {

void VerbEnds::end(const Descriptor& descriptor, const Status& status) {
  if (!status.ok()) to_client_.report(descriptor.ticket, about(status, descriptor));
  unfinished_.end(descriptor.sequence);
  if (descriptor.ticket == kNoTicket) return;
  to_client_.end_ticket(descriptor.ticket, status.ok());
}

void VerbEnds::answer_flushes(FunctionRef<void()> before) {
  while (!flushes_.empty() && (unfinished_.empty() || unfinished_.first() > flushes_.front().sequence)) {
    before();
    to_client_.end_ticket(flushes_.front().ticket, true);
    flushes_.pop_front();
  }
}

// Returns `status` with its variable and iteration, for the client.
Status VerbEnds::about(const Status& status, const Descriptor& descriptor) const {
  if (is_of_file(descriptor.verb)) return status;  // its message already names the file
  Fault fault = status.fault();
  const bool of_block =
      descriptor.verb == Verb::write || descriptor.verb == Verb::borrow || descriptor.verb == Verb::read;
  if (of_block) fault.variable = declared_.variables[descriptor.variable].name;
  fault.iteration = descriptor.iteration;
  fault.message = of_block ? fmt::format("'{}', iteration {}: {}", fault.variable, fault.iteration, fault.message)
                           : fmt::format("iteration {}: {}", fault.iteration, fault.message);
  return Status(std::move(fault));
}

}  // namespace tailrace::impl
