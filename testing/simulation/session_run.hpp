// run_session: one seed's run of whole sessions: phases of a few clients on one disk, each with a server of its own
// or all with one of their node, deaths, recovery, and all checks. Ends the process if a checker finds something.
#pragma once

#include <cstdint>
#include <limits>

#include "testing/simulation/fault_plan.hpp"
#include "testing/simulation/session_plan.hpp"
#include "testing/simulation/story.hpp"

namespace tailrace::impl::simulation {

struct RunOptions {
  Without without;
  uint64_t operations = std::numeric_limits<uint64_t>::max();  // of each client in each phase, at most
};

// The present directory is used for what recovery looks at: it is empty, and is left so.
void run_session(uint64_t seed, InPlace place, const RunOptions& options, Story& story);

}  // namespace tailrace::impl::simulation
