#include "runtime/parts/server_parts.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "engine/schedule/adaptive.hpp"
#include "engine/schedule/fifo.hpp"
#include "engine/schedule/hbrr.hpp"
#include "engine/schedule/twins.hpp"
#include "runtime/parts/open_storage.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kLargestCached = uint64_t{1} << 20;  // bytes
constexpr uint64_t kLargestHole = 4095;  // bytes, of a scattered write: no page of the file lies in a hole

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

// `servers`: the cpus of the server's thread; null: any. A single filter thread shares them: it works while the
// server waits. Several would only take turns there, so they get the cpus of `place.cpus`, or any.
FilterCrew::Options filter_threads(const PlaceSettings& place, const std::shared_ptr<CpuGroup>& servers) {
  FilterCrew::Options options;
  options.threads = static_cast<uint32_t>(place.filter_threads);
  options.cpus = servers;
  if (!servers || options.threads == 1) return options;
  std::vector<int> cpus = place.cpus;
  if (place.choice != CpuChoice::list) {
    // Name the cpus one by one, since the threads would inherit the server's binding.
    cpus.resize(static_cast<size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF))));
    std::iota(cpus.begin(), cpus.end(), 0);
  }
  options.cpus = std::make_shared<CpuGroup>(std::move(cpus));
  return options;
}

}  // namespace

std::unique_ptr<Scheduler> make_scheduler(const ScheduleSettings& schedule, uint32_t forwarder, Nanoseconds origin) {
  Twins::Options twins;
  twins.forwarder = forwarder;
  twins.window = schedule.window;
  twins.batch = schedule.batch;
  twins.origin = origin;
  switch (schedule.kind) {
    case ScheduleKind::fifo: return std::make_unique<Fifo>();
    case ScheduleKind::hbrr: return std::make_unique<Hbrr>(Hbrr::Options{schedule.quantum, schedule.batch});
    case ScheduleKind::twins: return std::make_unique<Twins>(twins);
    case ScheduleKind::adaptive:
      // Forwarders that have the same dice try the same windows at the same time.
      return std::make_unique<Adaptive>(Adaptive::Options{twins, Adaptive::usual_windows(), 1});
  }
  TAILRACE_ASSERT(false);
}

EngineOptions engine_options(const Config& config, bool timed) {
  const auto& merge = config.merge;
  EngineOptions options;
  options.execute.largest_cached = kLargestCached;
  set_bounce(options.execute, config, timed);
  options.merge.largest = merge.enabled ? merge.largest : 0;
  options.merge.alignment = merge.alignment;
  options.merge.sieve = merge.sieve;
  options.merge.waste = merge.waste;
  options.merge.scatter = kLargestHole;
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

Result<ServerParts> ServerParts::build(const Config& config, Options options, const Clock& clock, Doorbell& doorbell,
                                       Log& log) {
  auto storage = open_storage(config, options.cpus, clock, doorbell, log);
  if (!storage.ok()) return storage.status();
  ServerParts parts;
  parts.storage = std::move(storage).value();
  parts.scheduler = make_scheduler(config.schedule);
  if (options.turn) parts.slots = std::make_unique<Slots>(*parts.scheduler, *options.turn);
  Scheduler& scheduler = parts.slots ? *parts.slots : *parts.scheduler;
  parts.engine = std::make_unique<Engine>(*parts.storage, scheduler, clock, engine_options(config, options.timed));
  parts.crew = std::make_unique<FilterCrew>(clock, doorbell, filter_threads(config.place, options.cpus));
  return parts;
}

}  // namespace tailrace::impl
