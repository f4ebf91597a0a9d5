// write_npy: a raster as a NumPy file, float32, row 0 in the south; for those who draw the results.
//
// Format: "NEP 1, a simple file format for NumPy arrays", version 1.0.
#pragma once

#include <string>

#include "raster.hpp"

namespace tsunami {

// Throws Error.
void write_npy(const std::string& file, const Raster& raster);

}  // namespace tsunami
