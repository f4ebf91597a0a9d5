// run_session: one seed's run of whole sessions: phases of a few clients on one disk, each with its own server or all
// with their node's; deaths, recovery, and all checks. It ends the process if a checker finds something.
#pragma once

#include <cstdint>
#include <limits>

#include "testing/simulation/fault_plan.hpp"
#include "testing/simulation/session_plan.hpp"
#include "testing/simulation/story.hpp"

namespace tailrace::impl::simulation {

struct RunOptions {
  Without without;
  uint64_t operations = std::numeric_limits<uint64_t>::max();  // most operations of each client in each phase
};

// Runs a seed. Recovery works in the present directory, which must be empty and is left so.
void run_session(uint64_t seed, InPlace place, const RunOptions& options, Story& story);

}  // namespace tailrace::impl::simulation
