// run: the main loop, in each rank.
#pragma once

#include "options.hpp"
#include "report.hpp"

namespace texture {

// Filters the image and writes the results; all ranks of MPI_COMM_WORLD call it. Returns the same report in all.
// Throws Error.
Report run(const Options& options);

}  // namespace texture
