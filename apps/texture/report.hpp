// Report: what a run took, for the line of JSON at its end; and the file that describes the results.
#pragma once

#include <string>
#include <vector>

#include "gabor.hpp"
#include "options.hpp"

namespace texture {

struct Report {
  ImageShape shape;
  std::vector<GaborFilter> bank;
  int ranks;
  long bytes;      // written by all ranks
  double input;    // s; reading the image and preparing the filters, not in total
  double total;    // s; of the slowest rank
  double compute;  // s; mean of the ranks
  double output;   // s; mean of the ranks: inside MPI-IO's calls and waits, from opening to closing
  double open;     // s; of that, opening the file and setting its view
  double finish;   // s; of that, after the last plane: waits, the sync, and closing
};

// Returns the line, without its end.
std::string line_of(const Report& report, OutputKind kind);

// Writes FILE.json, which says how FILE is to be read: type, shape, axes, filters. Throws Error.
void describe_file(const Report& report, const std::string& file);

}  // namespace texture
