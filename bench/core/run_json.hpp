// The JSON document of a run, "core_run": 1.
#pragma once

#include <string>

#include "bench/core/options.hpp"
#include "bench/core/shared_run.hpp"

namespace bench::core {

std::string json_of(const RunOptions& options, const SharedRun& shared);

}  // namespace bench::core
