// read_esri_grid: reads ESRI ASCII grids, the format of the bathymetry.
//
// A header of name and value (or value and name, as in NOAA's and GeoClaw's files), then the heights, row by row from
// the north. Plain or gzip-compressed. Only esri_grid.cpp uses zlib. It reads and checks the whole file, and never
// guesses a missing value.
#pragma once

#include <string>
#include <string_view>

#include "raster.hpp"

namespace tsunami {

// Reads `file`. Throws Error, which names file, line, what was found and what was expected.
Raster read_esri_grid(const std::string& file);

// Parses a grid from text; `name` stands for the file in messages.
Raster parse_esri_grid(std::string_view text, const std::string& name);

}  // namespace tsunami
