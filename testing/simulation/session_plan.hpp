// SessionPlan: what one seed's run of sessions is: how many clients and phases, their configurations, sizes of all
// queues, how the disk behaves, who dies and when. Plain data, drawn from the seed.
//
// Everything that can be small is small more often than not: rings that fill, pools of hardly one block, transfers
// that split, batches that join.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/schedule/slots.hpp"
#include "model/config.hpp"
#include "model/wire/core_wire.hpp"
#include "testing/simulation/fault_plan.hpp"
#include "testing/simulation/sim_storage.hpp"
#include "testing/simulation/world.hpp"

namespace tailrace::impl::simulation {

// Sizes of a channel's parts; in production they are those of ChannelMemory.
struct ChannelSizes {
  uint32_t ring = 64;  // a power of two
  uint32_t tickets = 64;
  uint32_t blocks = 256;  // of the pool, free and used parts together
};

// When a client, or the whole machine, dies: so long after the client's n-th operation began.
struct Death {
  uint64_t operation = 0;
  uint64_t delay = 0;  // nanoseconds
  bool power = false;  // the power is cut: all die, and what was not synced is lost
};

// The use that a client makes of raw files.
struct RawFilePlan {
  std::vector<std::string> paths;  // below the first device; none: nothing
  uint64_t percent = 0;            // of the steps of its program, those with a verb about them
  uint64_t size = 1;               // of the files, about
};

// The absence of a client that shares files.
struct Absence {
  std::optional<uint64_t> comes_at;  // in nanoseconds; none: never
  bool works = false;  // then, if it is still welcome; else it comes for a moment, and hands nothing over
};

// Somebody who wants to come as a client of the node, in a process that begins when all clients have come: one of the
// next run, or one client too many.
struct Stranger {
  int client = 0;
  uint64_t at = 0;  // nanoseconds, not before
};

// One client in one phase.
struct ClientPlan {
  Config config;
  EngineOptions engine;
  SimStorageOptions storage;
  ChannelSizes channel;
  bool any_order = false;  // ready requests leave the scheduler in any order
  uint64_t client_weight = 1;
  uint64_t server_weight = 1;
  uint64_t operations = 0;
  int64_t first_iteration = 0;
  uint64_t iterations = 1;  // worked on at once
  bool changes = false;     // arrays get other lengths meanwhile
  RawFilePlan raw_files;
  std::optional<Death> death;
  std::optional<Absence> absence;
  bool lingers = false;      // its process lives on after the close
  bool others_wait = false;  // a client of the node is absent: others wait for it, with little patience
};

// When a server dies as it writes a line of its ledger: moments that random times hardly ever hit.
struct LineDeath {
  std::optional<LedgerRecord::Kind> kind;  // lines of it, or all, …
  uint64_t nth = 0;                        // … before it
  bool before = true;                      // the line is not there yet
};

// The server that all clients of a phase share, in place `core`.
struct NodePlan {
  EngineOptions engine;
  SimStorageOptions storage;
  bool any_order = false;
  uint64_t server_weight = 1;
  std::vector<uint64_t> deaths;  // of the first servers: so long after each began, in nanoseconds
  std::optional<LineDeath> line_death;
  bool restart = true;  // whether clients go on with another server
  Slots::Turn turn;     // of several servers: writes wait for their slot
};

struct PhasePlan {
  WorldPlan world;
  std::vector<ClientPlan> clients;
  std::optional<NodePlan> node;  // none: each client has a server of its own, in place `thread`
  bool recovered = true;         // before the next phase
  std::optional<Stranger> stranger;
};

struct SessionPlan {
  FaultPlan faults;
  std::vector<PhasePlan> phases;
};

enum class InPlace { thread, core };

// Returns the owner of the files that a client's blocks go to, as their names have it: "c1", or "n0" where there is a
// file a node.
std::string owner_of_files(const Config& config, int client);

SessionPlan draw_session(uint64_t seed, InPlace place, const Without& without);

}  // namespace tailrace::impl::simulation
