// The numbers that runs write: a field like those of simulations, smooth with noise in its last digits, which can be
// regenerated to compare it with a file.
#pragma once

#include <cstdint>
#include <span>

namespace bench::core {

// Fills in the field of one process; no two processes have the same.
void fill(std::span<float> field, int process);

// Changes one number of each page, so that no page is as in another iteration, or as another process's.
void mark(std::span<float> field, int process, int64_t iteration);

}  // namespace bench::core
