// run_study: one run of the study: builds the simulated machine, runs the program to its end, and says how long it
// took and what the disks did.
//
// The result depends on the arguments alone.
#pragma once

#include <cstdint>

#include "lab/inside/forward_study/parameters.hpp"

namespace tailrace::impl::study {

struct Outcome {
  double seconds = 0;      // until the slowest client has ended
  double seeks = 0;        // … of the disks for a MiB
  double transfer = 0;     // mean bytes of a request to a data server
  double busy = 0;         // part of the time in which a disk worked, on average
  double positioning = 0;  // part of the time in which a disk positioned its head, on average
  uint64_t events = 0;
};

Outcome run_study(const Parameters& parameters, const Schedule& schedule, uint64_t seed);

}  // namespace tailrace::impl::study
