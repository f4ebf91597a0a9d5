// ServerParts: the parts of every server, built from its configuration: a storage, a scheduler, an engine on both,
// and threads that filter. Every composition root builds its server from these; a forwarder, which filters nothing,
// from some of them. Only this names the classes of schedulers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sync/cpu_group.hpp"
#include "base/sync/doorbell.hpp"
#include "engine/engine.hpp"
#include "engine/schedule/scheduler.hpp"
#include "engine/schedule/slots.hpp"
#include "model/config/config.hpp"
#include "server/filtering/filter_crew.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

// Makes the scheduler that a configuration selects (`schedule.kind`). `forwarder` is the number of this one among
// those that write to the same data servers, and `origin` the time, on the engine's clock, at which windows of all of
// them begin: on one machine 0, elsewhere that of a common moment, such as the beginning of the system clock.
std::unique_ptr<Scheduler> make_scheduler(const ScheduleSettings& schedule, uint32_t forwarder = 0,
                                          Nanoseconds origin = {});

// `timed`: the engine's driver calls it when it is due.
EngineOptions engine_options(const Config& config, bool timed);

struct ServerParts {
  struct Options {
    std::shared_ptr<CpuGroup> cpus = {};             // of the threads of storage and filters; null: any
    bool timed = false;                              // the engine's driver calls it when it is due
    std::optional<Slots::Turn> turn = std::nullopt;  // this server's turn among others; none: it takes no turns
  };

  // Opens the storage and builds the rest on it. Borrows `clock` and `doorbell` for the life of the parts.
  static Result<ServerParts> build(const Config& config, Options options, const Clock& clock, Doorbell& doorbell,
                                   Log& log);

  // Each uses the members above it.
  std::unique_ptr<Storage> storage;
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<Slots> slots;  // null: the server takes no turns
  std::unique_ptr<Engine> engine;
  std::unique_ptr<FilterCrew> crew;
};

}  // namespace tailrace::impl
