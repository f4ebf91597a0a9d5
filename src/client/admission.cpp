#include "client/admission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/names/counted.hpp"

namespace tailrace::impl {

Result<Admission::Iteration*> Admission::begin(int64_t iteration) {
  const bool is_new = iteration >= 0 && iterations_.find(iteration) == nullptr && !iterations_.has_ended(iteration);
  const Status room = is_new ? room_for_iteration(iteration) : Status();
  if (!room.ok() && room.code() != TAILRACE_DROPPED) return room;
  const Result<Iteration*> of = iterations_.open(iteration);
  if (!of.ok() || !is_new) return of;
  if (!room.ok()) return drop(*of.value(), unfinished_.limit());
  unfinished_.take(iteration);
  uint64_t& peak = meter_.counters().iterations_peak;
  peak = std::max<uint64_t>(peak, unfinished_.count());
  return of;
}

// Makes room for one more iteration, by the policy; returns TAILRACE_DROPPED if the iteration must be dropped.
Status Admission::room_for_iteration(int64_t iteration) {
  const size_t open = iterations_.count();
  // If this client has ended none of the unfinished iterations, others that share its files are ahead and wait for
  // it: it may go on.
  const auto is_room = [&] {
    return unfinished_.has_room_for(iteration) || (open < unfinished_.limit() && unfinished_.count_own() <= open);
  };
  if (is_room()) return {};
  const size_t most = std::min<size_t>(unfinished_.limit(), OpenIterations::kMaxOpen);
  if (open >= most) {  // waiting would not help
    return Status(TAILRACE_WRONG_ORDER,
                  fmt::format("iteration {}: {} {} open already, and at most {} may be unfinished "
                              "(memory.iterations, storage.iterations_per_file, and the limit of open files); the "
                              "oldest is {}: call end_iteration "
                              "for each when its last block is handed over",
                              iteration, counted(open, "iteration"), open == 1 ? "is" : "are", most,
                              iterations_.numbers().front()));
  }
  if (when_full_ == WhenFull::drop) {
    const Status looked = link_.look_for_room(is_room);
    return looked.code() == TAILRACE_TIMEOUT ? Status(TAILRACE_DROPPED, "there is no room for it") : looked;
  }
  if (!std::exchange(warned_, true)) {
    log_.info(
        "the computation waits for iterations to be published: {} are unfinished, and storage is slower than the "
        "program writes (said once)",
        unfinished_.limit());
  }
  return link_.wait_for_room(is_room);
}

Result<Admission::Iteration*> Admission::open(int64_t iteration) {
  Result<Iteration*> of = begin(iteration);
  if (of.ok() && of.value()->dropped) {
    return Status(
        TAILRACE_DROPPED,
        "the iteration was dropped, since the memory budget was full, or too many iterations were unfinished");
  }
  return of;
}

Result<std::optional<PoolBlock>> Admission::take_memory(uint64_t bytes, Iteration& iteration, bool may_pass) {
  auto block = memory_.allocate(bytes);
  if (!block.ok() || block.value()) return block;
  if (Status fits = memory_.check_size(bytes); !fits.ok()) return fits;
  switch (when_full_) {
    case WhenFull::drop: return look_for_memory(bytes, iteration);
    case WhenFull::sync:
      if (may_pass) return std::optional<PoolBlock>();
      return wait_for_memory(bytes);
    case WhenFull::block: return wait_for_memory(bytes);
  }
  TAILRACE_ASSERT(false);
}

Result<std::optional<PoolBlock>> Admission::wait_for_memory(uint64_t bytes) {
  const Result<PoolBlock> block = memory_.wait_for(bytes);
  if (!block.ok()) return block.status();
  return std::optional(block.value());
}

// A dead server gives nothing back. If another has replaced it, there may be room; if not, the iteration is dropped.
Result<std::optional<PoolBlock>> Admission::look_for_memory(uint64_t bytes, Iteration& iteration) {
  Result<std::optional<PoolBlock>> block = std::optional<PoolBlock>();
  const Status looked = link_.look_for_room([&] {
    block = memory_.allocate(bytes);
    return !block.ok() || block.value();
  });
  if (looked.ok()) return block;
  return looked.code() == TAILRACE_TIMEOUT ? drop(iteration, 0) : looked;
}

// `unfinished`: the number of unfinished iterations, if that reached the limit; 0: there was no memory.
Status Admission::drop(Iteration& iteration, uint64_t unfinished) {
  iteration.dropped = true;
  meter_.counters().blocks_dropped += iteration.blocks;
  ++meter_.counters().iterations_dropped;
  Descriptor descriptor;
  descriptor.verb = Verb::drop_iteration;
  descriptor.iteration = iteration.number;
  descriptor.unfinished = unfinished;
  if (Status sent = link_.send(descriptor); !sent.ok()) return sent;
  const std::string why = unfinished > 0 ? fmt::format("{} {} unfinished", counted(unfinished, "iteration"),
                                                       unfinished == 1 ? "is" : "are")
                                         : fmt::format("the memory budget of {} bytes is full", memory_.size());
  return Status(TAILRACE_DROPPED, why + ": the whole iteration is dropped");
}

}  // namespace tailrace::impl
