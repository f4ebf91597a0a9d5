// The numbers that runs write: a field as simulations have them, smooth with noise in its last digits, which can be
// made again to compare with what a file holds.
#pragma once

#include <cstdint>
#include <span>

namespace bench::core {

// The field of one process; no two are the same.
void fill(std::span<float> field, int process);

// Changes one number of each page, so that no page of an iteration is as it was before, nor as another process's.
void mark(std::span<float> field, int process, int64_t iteration);

}  // namespace bench::core
