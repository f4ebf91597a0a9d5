// NpyFile: a raster as a NumPy file, float32, row 0 in the south; for programs that plot the results.
//
// One process creates the file; then each writes its own rows. Format: "NEP 1, a simple file format for NumPy
// arrays", version 1.0.
#pragma once

#include <cstddef>
#include <string>

#include "raster.hpp"

namespace tsunami {

class NpyFile {
 public:
  NpyFile(std::string file, std::size_t nx, std::size_t ny);

  // Creates the file with only its header. Throws Error.
  void create() const;
  // Writes the rows of this slab into the file that create() has made. Throws Error.
  void write(const Raster& slab) const;

 private:
  const std::string file_;
  const std::size_t nx_;
  std::string header_;
};

}  // namespace tsunami
