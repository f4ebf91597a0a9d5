#include "client/client_meter.hpp"

namespace tailrace::impl {
namespace {}  // namespace

void ClientMeter::count_accepted(uint32_t variable) {
  const uint64_t bytes = shapes_.of(variable)->bytes();
  ++total_.blocks_accepted;
  total_.bytes_accepted += bytes;
  ++variables_[variable].blocks_accepted;
  variables_[variable].bytes_accepted += bytes;
}

void ClientMeter::count_if_dropped(uint32_t variable, const Status& why) {
  if (why.code() != TAILRACE_DROPPED) return;
  ++total_.blocks_dropped;
  ++variables_[variable].blocks_refused;
}

void ClientMeter::count_written_through(uint32_t variable) {
  ++total_.blocks_written_through;
  ++variables_[variable].blocks_written_through;
}

void ClientMeter::end_handover(What what, uint32_t variable, int64_t iteration, Nanoseconds start,
                               Nanoseconds before) {
  const Nanoseconds end = clock_.now();
  variables_[variable].handover.add(count_of(end - start + before));
  note(what, variable, iteration, start, end);
}

void ClientMeter::end_wait(uint32_t variable, Nanoseconds start) {
  const Nanoseconds end = clock_.now();
  total_.waiting_ticket += end - start;
  if (variable != TraceEvent::kNone) variables_[variable].waiting.add(count_of(end - start));
  note(What::wait_ticket, variable, -1, start, end);
}

void ClientMeter::note(What what, uint32_t variable, int64_t iteration, Nanoseconds start, Nanoseconds end) {
  if (!trace_.on()) return;
  const uint64_t bytes = variable == TraceEvent::kNone ? 0 : shapes_.of(variable)->bytes();
  trace_.add(
      {.what = what, .variable = variable, .iteration = iteration, .bytes = bytes, .start = start, .end = end});
}

void ClientMeter::note_file(What what, uint32_t file, uint64_t bytes, Nanoseconds start) {
  if (!trace_.on()) return;
  trace_.add({.what = what,
              .file = file,
              .variable = TraceEvent::kNone,
              .bytes = bytes,
              .start = start,
              .end = clock_.now()});
}

}  // namespace tailrace::impl
