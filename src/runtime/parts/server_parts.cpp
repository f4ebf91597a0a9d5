#include "runtime/parts/server_parts.hpp"

#include <utility>

#include "runtime/parts/engine_options.hpp"
#include "runtime/parts/filter_threads.hpp"
#include "runtime/parts/make_scheduler.hpp"
#include "runtime/parts/open_storage.hpp"

namespace tailrace::impl {

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
