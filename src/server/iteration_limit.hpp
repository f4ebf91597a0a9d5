// How many of a client's iterations may be unfinished at once: begun, and their files neither published nor removed.
//
// Pure: from the configuration and the file descriptors that may be used for them to a number. Each unfinished
// iteration has a file open, and its metadata are in memory beside the budget.
#pragma once

#include <cstdint>

#include "model/config.hpp"

namespace tailrace::impl {

// Descriptors of an iteration's file: one for transfers through the page cache and one for direct ones. A directory
// that is synced is opened when the file has been closed.
inline constexpr uint64_t kDescriptorsPerIteration = 2;

// `descriptors`: for the files of this client's iterations. From 1 to IterationTable<>::kMost; at least
// kIterationsWhateverMemory, if there are descriptors for so many.
uint32_t iteration_limit(const Config& config, uint64_t descriptors);

inline constexpr uint64_t kIterationsWhateverMemory = 4;

}  // namespace tailrace::impl
