#include "testing/simulation/sim_process.hpp"

#include <fmt/format.h>

#include "server/iteration_limit.hpp"

namespace tailrace::impl::simulation {
namespace {

std::string journal_of(const Config& config, int client) {
  return fmt::format("{}/{}_c{}.dropped", config.storage.paths[0], config.name, client);
}

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
      format_(plan.config, storage_, Hdf5Format::Options{number, "machine", same_date}),
      files_(plan.config, engine_, format_, log_, {.clients = 1, .journal = journal_of(plan.config, number)}),
      raw_files_(engine_),
      to_client_(channel_),
      server_(plan.config, number, to_client_, engine_, files_, server_trace_),
      loop_(channel_, doorbell_),
      client_(plan.config, *this, world.clock(), log_, client_trace_) {
  channel_.unfinished.set_limit(iteration_limit(plan.config, plan.storage.descriptors));
  server_.serve_files(raw_files_);
  storage_.ignore([this](const void* memory) { return engine_.throws_away(memory); });
}

void SimProcess::run_client(const std::function<void()>& program) {
  try {
    program();
  } catch (const Killed&) {
    world_.story().tell("client {} is gone", number_);
  }
  loop_.stop();
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
