// run: one whole run, from the options to the files. Result contains what it found.
//
// It composes this application: it reads the bathymetry, builds solver and output, and contains the main loop. With
// several processes each of them runs it on its slab of the grid; the Result of the first one covers all.
#pragma once

#include <memory>

#include "gauge.hpp"
#include "options.hpp"
#include "timeline.hpp"

namespace tsunami {

// The rows, the times and the counts of one process.
struct Share {
  Slab slab{};
  double seconds_total = 0, seconds_computing = 0, seconds_waiting = 0;  // as in Timeline
  double seconds_peers = 0;                                              // of computing: waiting for other processes
  double peak_rss = 0;                                                   // bytes
  Output::Counters counters;
};

struct GaugeCrest {
  std::string name;
  double x, y;
  Crest crest;
};

struct Result {
  std::ptrdiff_t nx = 0, ny = 0;  // of the whole grid
  double dt = 0;
  long steps = 0, substeps = 0;
  long output_every = 0;
  std::int64_t outputs = 0;
  double bytes = 0;
  double volume_before = 0, volume_after = 0;  // m³
  double seconds_setup = 0;
  Timeline timeline;    // of the first process
  double peak_rss = 0;  // bytes; of all processes
  std::string description;
  Output::Counters counters;  // sums over all processes
  std::vector<std::string> files;
  std::string bathymetry;  // a .npy file; empty if nothing was written
  std::vector<GaugeCrest> gauges;
  std::vector<Share> shares;  // one per process
};

// Returns the bathymetry that the options name, cropped but not refined. Throws Error.
Raster read_bed(const Options& options);

// The sizes that Peers must be able to carry for a run.
struct PeersNeed {
  std::size_t halo, gathered;  // numbers, as in CrewOptions
};
PeersNeed needed_of_peers(const Options& options, const Raster& coarse);

// `coarse` is the result of read_bed(). Collective. Throws Error.
Result run(const Options& options, const Raster& coarse, Peers& peers);

}  // namespace tsunami
