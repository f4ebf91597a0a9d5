// run_forward: one seed's run of clients, forwarders and a network. Each client is an engine on the back end
// `remote`; the forwarders write to one simulated disk. Forwarders are killed, cut off, asked to leave and started
// again. Every request must end once and succeed, every byte must be that of the last write, and no forwarder may
// hold more than its memory.
#pragma once

#include <cstdint>

#include "testing/simulation/session_run.hpp"

namespace tailrace::impl::simulation {

void run_forward(uint64_t seed, const RunOptions& options, Story& story);

}  // namespace tailrace::impl::simulation
