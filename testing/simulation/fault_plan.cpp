#include "testing/simulation/fault_plan.hpp"

#include <fmt/format.h>

#include <array>

namespace tailrace::impl::simulation {
namespace {

// Chooses the target of a hard fault: usually one file, sometimes all, a directory, or the list of dropped
// iterations.
std::string some_target(SplitDice& dice, uint32_t clients, uint32_t iterations) {
  const uint64_t kind = dice.below(10);
  if (kind < 7) return fmt::format("_c{}_{:06}.h5", dice.below(clients), dice.below(iterations));
  if (kind == 7) return ".dropped";
  if (kind == 8) return fmt::format("_c{}_", dice.below(clients));
  return "";
}

}  // namespace

const char* name_of(DiskCall call) {
  static constexpr std::array kNames = {"open", "allocate", "rename", "remove", "read", "write", "sync"};
  return kNames[static_cast<size_t>(call)];
}

FaultPlan draw_faults(SplitDice dice, uint32_t clients, uint32_t iterations, const Without& without) {
  FaultPlan plan;
  if (!without.transient) {
    plan.short_percent = dice.chance(50) ? dice.between32(1, 60) : 0;
    plan.eintr_percent = dice.chance(40) ? dice.between32(1, 40) : 0;
    plan.eagain_percent = dice.chance(40) ? dice.between32(1, 40) : 0;
    plan.nothing_percent = dice.chance(20) ? dice.between32(1, 30) : 0;
    plan.patience = dice.chance(10) ? dice.between32(2, 6) : plan.patience;
    plan.refuse_direct_percent = dice.chance(15) ? 30 : 0;
  }
  if (without.hard || dice.chance(35)) return plan;
  const DiskCall calls[] = {DiskCall::write, DiskCall::write,  DiskCall::write,  DiskCall::open,    DiskCall::sync,
                            DiskCall::read,  DiskCall::rename, DiskCall::remove, DiskCall::allocate};
  for (uint64_t count = dice.below(4); count > 0; --count) {
    HardFault fault;
    fault.call = dice.one_of(calls);
    fault.path_contains = some_target(dice, clients, iterations);
    if (fault.call == DiskCall::sync && dice.chance(40)) fault.path_contains = "d0";
    fault.first = dice.below(8);
    fault.times = dice.chance(60) ? 1 : HardFault::kForever;
    fault.error = dice.chance(60) ? EIO : ENOSPC;
    if (fault.call == DiskCall::open && fault.error == ENOSPC) fault.error = EMFILE;
    fault.torn = fault.call == DiskCall::write && dice.chance(50);
    plan.hard.push_back(fault);
  }
  if (dice.chance(12)) plan.capacity = dice.between(16, 400) << 10;
  return plan;
}

}  // namespace tailrace::impl::simulation
