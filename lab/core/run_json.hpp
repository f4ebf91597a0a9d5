// The JSON document of a run, "core_run": 1.
#pragma once

#include <string>

#include "lab/core/options.hpp"
#include "lab/core/shared_run.hpp"

namespace bench::core {

std::string json_of(const RunOptions& options, const SharedRun& shared);

}  // namespace bench::core
