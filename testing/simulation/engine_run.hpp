// run_engine: one seed's run of the engine alone on the simulated disk: overlapping reads and writes, fences, syncs,
// publish, close and crashes over several files, compared with a plain model. It is far faster than a session.
#pragma once

#include <cstdint>

#include "testing/simulation/session_run.hpp"

namespace tailrace::impl::simulation {

void run_engine(uint64_t seed, const RunOptions& options, Story& story);

}  // namespace tailrace::impl::simulation
