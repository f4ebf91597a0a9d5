// Verifies, bit by bit, that the files of a run contain what its processes wrote, as the HDF5 library reads them.
#pragma once

#include <string>

#include "lab/core/options.hpp"

namespace bench::core {

// Returns the JSON document "core_verify": 1: how many files are equal, and what is wrong with the others.
std::string verify(const VerifyOptions& options);

}  // namespace bench::core
