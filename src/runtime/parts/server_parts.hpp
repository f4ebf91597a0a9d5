// ServerParts: the parts of every server, built from its configuration: a storage, a scheduler, an engine on both,
// and threads that filter. Every composition root builds its server from these.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sync/doorbell.hpp"
#include "engine/engine.hpp"
#include "engine/schedule/scheduler.hpp"
#include "engine/schedule/slots.hpp"
#include "model/config/config.hpp"
#include "server/filtering/filter_crew.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

struct ServerParts {
  struct Options {
    std::vector<int> cpus;                           // that the threads of storage and filters may use; empty: any
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
