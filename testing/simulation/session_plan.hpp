// SessionPlan: the plan of one seed's run of sessions: the number of clients and phases, their configurations, the
// sizes of all queues, the faults of the disk, and the deaths. Plain data, drawn from the seed.
//
// Everything that can be small usually is: rings that fill, pools of hardly one block, transfers that split, batches
// that join.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/schedule/slots.hpp"
#include "model/config/config.hpp"
#include "model/wire/core_wire.hpp"
#include "testing/simulation/fault_plan.hpp"
#include "testing/simulation/sim_storage.hpp"
#include "testing/simulation/world.hpp"

namespace tailrace::impl::simulation {

// Sizes of a channel's parts; in production they are those of ChannelMemory.
struct ChannelSizes {
  uint32_t ring = 64;  // a power of two
  uint32_t tickets = 64;
  uint32_t blocks = 256;  // of the pool, both free and used ranges
};

// When a client, or the whole machine, dies: `delay` after the start of the client's operation number `operation`.
struct Death {
  uint64_t operation = 0;
  uint64_t delay = 0;  // nanoseconds
  bool power = false;  // the power is cut: all die, and data that were not synced are lost
};

// The use that a client makes of raw files.
struct RawFilePlan {
  std::vector<std::string> paths;  // below the first device; empty: no raw files
  uint64_t percent = 0;            // of the steps of its program, those that use a raw file
  uint64_t size = 1;               // approximate size of the files
};

// The absence of a client that shares files.
struct Absence {
  std::optional<uint64_t> comes_at;  // when it comes, in nanoseconds; none: never
  bool works = false;  // it works then if it is still admitted; else it comes for a moment, and hands nothing over
};

// A process that wants to come as a client of the node, and begins when all clients have come: one of the next run,
// or one client too many.
struct Stranger {
  int client = 0;
  uint64_t at = 0;  // in nanoseconds; not earlier
};

// One client in one phase.
struct ClientPlan {
  Config config;
  EngineOptions engine;
  SimStorageOptions storage;
  ChannelSizes channel;
  bool any_order = false;  // the scheduler hands out ready requests in any order
  uint64_t client_weight = 1;
  uint64_t server_weight = 1;
  uint64_t operations = 0;
  int64_t first_iteration = 0;
  uint64_t iterations = 1;  // iterations that it works on at once
  bool changes = false;     // its arrays change their lengths
  RawFilePlan raw_files;
  std::optional<Death> death;
  std::optional<Absence> absence;
  bool lingers = false;      // its process lives on after the close
  bool others_wait = false;  // another client of the node is absent, and the others wait for it with little patience
};

// Makes a server die as it writes a line of its ledger: random times hardly ever hit these moments.
struct LineDeath {
  std::optional<LedgerRecord::Kind> kind;  // the kind of line; none: any
  uint64_t nth = 0;                        // how many such lines come before it
  bool before = true;                      // it dies before the line is written
};

// The server that all clients of a phase share, in place `core`.
struct NodePlan {
  EngineOptions engine;
  SimStorageOptions storage;
  bool any_order = false;
  uint64_t server_weight = 1;
  std::vector<uint64_t> deaths;  // when the first servers die, in nanoseconds after each began
  std::optional<LineDeath> line_death;
  std::optional<uint64_t> ledger_room;  // after so many lines, the first servers find no room for more; none: always
  bool restart = true;                  // clients continue with another server
  Slots::Turn turn;                     // of several servers: each writes in its slot
};

struct PhasePlan {
  WorldPlan world;
  std::vector<ClientPlan> clients;
  std::optional<NodePlan> node;  // none: each client has its own server, in place `thread`
  bool recovered = true;         // before the next phase
  std::optional<Stranger> stranger;
};

struct SessionPlan {
  FaultPlan faults;
  std::vector<PhasePlan> phases;
};

enum class InPlace { thread, core };

// Returns the owner of the files of a client's blocks, as file names have it: "c1", or "n0" if a node shares a file.
std::string owner_of_files(const Config& config, int client);

SessionPlan draw_session(uint64_t seed, InPlace place, const Without& without);

}  // namespace tailrace::impl::simulation
