#include "testing/simulation/sim_process.hpp"

#include <fmt/format.h>

#include "format/hdf5/hdf5_format.hpp"

namespace tailrace::impl::simulation {
namespace {

std::string same_date() { return "2026-01-02 03:04:05 +0000"; }

}  // namespace

SimProcess::SimProcess(World& world, SimDisk& disk, Faults& faults, uint64_t seed, int number, const ClientPlan& plan)
    : plan_(plan),
      number_(number),
      name_(fmt::format("server {}", number)),
      world_(world),
      log_(world.story()),
      memory_(plan.config.memory.budget, plan.config.variables.size(), plan.channel),
      channel_(memory_.view()),
      storage_(world, disk, faults, doorbell_, SplitDice(seed, "storage", static_cast<uint64_t>(number)),
               plan.storage, name_),
      any_order_(SplitDice(seed, "order", static_cast<uint64_t>(number))),
      engine_(storage_, plan.any_order ? static_cast<Scheduler&>(any_order_) : fifo_, world.clock(), plan.engine),
      crew_(world.clock(), doorbell_, {.threads = 0, .cpus = {}}),
      server_(*this),
      client_(plan.config, *this, world.clock(), log_, client_trace_) {
  storage_.ignore([this](const void* memory) { return engine_.throws_away(memory); });
}

SimProcess::SimServer::SimServer(SimProcess& process_in)
    : LoneServer(process_in.world_.clock(), process_in.processes_, process_in.doorbell_, process_in.log_,
                 process_in.number_, process_in.plan_.config,
                 {process_in.engine_,
                  [&process_in](int client, const Config& config) {
                    return std::make_unique<Hdf5Format>(config, process_in.storage_,
                                                        Hdf5Format::Options{client, "machine", same_date});
                  },
                  &process_in.crew_, [&process_in](uint64_t) { return process_in.plan_.storage.descriptors; }, 1},
                 process_in.channel_, process_in.server_trace_),
      process(process_in) {}

void SimProcess::SimServer::wait(std::optional<Nanoseconds> limit) {
  if (limit && *limit == Nanoseconds::zero()) return;
  if (limit) {
    process.world_.after(*limit, [of = &process] {
      if (of->runs_) of->doorbell_.wake();
    });
  }
  process.doorbell_.sleep();
}

void SimProcess::run_server() {
  runs_ = true;
  server_.run();
  runs_ = false;
}

void SimProcess::run_client(const std::function<void()>& program) {
  try {
    program();
  } catch (const Killed&) {
    world_.story().tell("client {} is gone", number_);
  }
  server_.end();
}

Status SimProcess::wait(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) {
  if (channel_.client_bell.wait_until(ready, timeout, world_.clock())) return {};
  return Status(TAILRACE_TIMEOUT, "the time given has passed");
}

void SimProcess::die(bool power) {
  if (died_ || closed_) return;
  if (power) {
    world_.story().tell("THE POWER IS CUT");
    return power_cut_();
  }
  world_.story().tell("client {} DIES", number_);
  lose_power();
}

// The server of a client that has closed may still exist, with nothing to do.
void SimProcess::lose_power() {
  storage_.cut();
  if (died_ || closed_) return;
  died_ = true;
  world_.kill(fiber_);
}

}  // namespace tailrace::impl::simulation
