// Computes how many of a client's iterations may be unfinished at once: begun, and their files neither published nor
// removed.
//
// It is a pure function of the configuration and the number of file descriptors that these files may use. Each
// unfinished iteration has a file open, and its metadata are in memory beside the budget.
#pragma once

#include <cstdint>

#include "model/config/config.hpp"

namespace tailrace::impl {

// Descriptors of an iteration's file: one for transfers through the page cache and one for direct ones. A directory
// is opened for its sync when the file has been closed.
inline constexpr uint64_t kDescriptorsPerIteration = 2;

// `descriptors` are for the files of this client's iterations. Returns 1 to IterationTable<>::kMost, and at least
// kIterationsWhateverMemory if the descriptors suffice for that.
uint32_t iteration_limit(const Config& config, uint64_t descriptors);

inline constexpr uint64_t kIterationsWhateverMemory = 4;

}  // namespace tailrace::impl
