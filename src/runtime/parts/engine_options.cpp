#include "runtime/parts/engine_options.hpp"

#include <algorithm>
#include <chrono>

namespace tailrace::impl {
namespace {

constexpr uint64_t kLargestCached = uint64_t{256} << 10;  // bytes

// Buffers for unaligned writes: eight of 2 MiB, or a quarter of all clients' budgets.
void set_bounce(Executor::Options& options, const Config& config, bool timed) {
  constexpr uint64_t kLargest = uint64_t{2} << 20;
  constexpr uint64_t kPage = 4096;
  const uint64_t all = config.memory.budget * static_cast<uint64_t>(std::max(config.place.clients, 1));
  const uint64_t bytes = std::min(all / 4 / options.bounce_count / kPage * kPage, kLargest);
  if (!config.storage.direct || bytes < options.direct_from) return;
  options.bounce_bytes = bytes;
  options.bounce_prefault = timed && config.memory.prefault;
}

}  // namespace

EngineOptions engine_options(const Config& config, bool timed) {
  const auto& merge = config.merge;
  EngineOptions options;
  options.execute.largest_cached = kLargestCached;
  set_bounce(options.execute, config, timed);
  options.merge.largest = merge.enabled ? merge.largest : 0;
  options.merge.alignment = merge.alignment;
  options.merge.sieve = merge.sieve;
  options.merge.waste = merge.waste;
  options.morph = merge.overwrite;
  options.gather.on = merge.enabled;
  options.gather.count = merge.count;
  options.gather.bytes = merge.bytes;
  options.gather.by_count = merge.by_count;
  if (timed && config.holds_writes())
    options.gather.delay = std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(merge.delay));
  if (timed && config.storage.throttle.kind == Throttle::Kind::rate)
    options.execute.rate = config.storage.throttle.rate;
  options.govern = timed && config.storage.throttle.kind == Throttle::Kind::automatic;
  using ForReads = EngineOptions::ReadAfter;
  options.read_after = merge.visibility == Visibility::pending ? ForReads::any : ForReads::submitted;
  if (merge.read_after == ReadAfter::written) options.read_after = ForReads::written;
  return options;
}

}  // namespace tailrace::impl
