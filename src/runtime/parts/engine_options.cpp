#include "runtime/parts/engine_options.hpp"

#include <chrono>

namespace tailrace::impl {
namespace {

constexpr uint64_t kLargestCached = uint64_t{256} << 10;  // bytes
constexpr uint64_t kBounce = uint64_t{2} << 20;           // bytes of each buffer

}  // namespace

EngineOptions engine_options(const Config& config, bool timed) {
  const auto& merge = config.merge;
  EngineOptions options;
  options.execute.largest_cached = kLargestCached;
  if (config.storage.direct) options.execute.bounce_bytes = kBounce;
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
