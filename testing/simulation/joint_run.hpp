// run_joint: one seed's run of several nodes that write files together (storage.file_per: job, place.nodes), on one
// simulated disk: the real engine, format and publication of each node's server. Servers die and others go on; calls
// of the disk fail. Every file that has its name must have all bytes of all nodes.
#pragma once

#include <cstdint>

#include "testing/simulation/session_run.hpp"

namespace tailrace::impl::simulation {

void run_joint(uint64_t seed, const RunOptions& options, Story& story);

}  // namespace tailrace::impl::simulation
