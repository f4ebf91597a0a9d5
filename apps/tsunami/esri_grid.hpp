// ESRI ASCII grids: how bathymetry comes in.
//
// A header of name and value (or value first, then the name, as NOAA's and GeoClaw's files have it), then the
// heights, row by row from the north. Plain or gzip-compressed. The only file that knows zlib is esri_grid.cpp. Reads
// the whole file and checks all of it; never guesses a missing value.
#pragma once

#include <string>
#include <string_view>

#include "raster.hpp"

namespace tsunami {

// Reads `file`. Throws Error, naming file, line, what was found and what was expected.
Raster read_esri_grid(const std::string& file);

// Parses a grid from text; `name` stands for the file in messages.
Raster parse_esri_grid(std::string_view text, const std::string& name);

}  // namespace tsunami
