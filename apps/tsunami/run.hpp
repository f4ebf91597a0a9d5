// run: one whole run, from the options to the files; what it found out is the Result.
//
// The composition of this application: reads the bathymetry, builds solver and output, and holds the main loop.
#pragma once

#include <memory>

#include "gauge.hpp"
#include "options.hpp"
#include "timeline.hpp"

namespace tsunami {

struct Result {
  std::ptrdiff_t nx = 0, ny = 0;
  double dt = 0;
  long steps = 0, substeps = 0;
  long output_every = 0;
  std::int64_t outputs = 0;
  double bytes = 0;
  double volume_before = 0, volume_after = 0;  // m³
  double seconds_setup = 0;
  Timeline timeline;
  double peak_rss = 0;  // bytes
  std::string description;
  Output::Counters counters;
  std::vector<std::string> files;
  std::string bathymetry;  // a .npy file; empty if nothing was written
  std::vector<Gauge> gauges;
};

// Throws Error.
Result run(const Options& options);

}  // namespace tsunami
