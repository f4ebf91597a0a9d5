// One run: a pattern, written in one way.
#pragma once

#include <string>

#include "lab/mpiio/options.hpp"

namespace bench::mpiio {

// Returns the JSON document "mpiio_run": 1. Collective; the document is the same on all ranks. Throws.
std::string run(const Options& options);

}  // namespace bench::mpiio
