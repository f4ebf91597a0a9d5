// check_files: what lies on the simulated disk after a phase, compared with the model: nothing published that is not
// whole and right, nothing lost that was promised, nothing there that nobody asked for.
//
// Published files are read by the HDF5 library. Ends the process when something is wrong.
#pragma once

#include "model/config.hpp"
#include "testing/simulation/model.hpp"
#include "testing/simulation/sim_disk.hpp"
#include "testing/simulation/story.hpp"

namespace tailrace::impl::simulation {

// How one client's run ended.
struct Fate {
  int client = 0;
  const Config* config = nullptr;
  bool closed = false;     // by itself: everything was told
  bool power_cut = false;  // the machine went down, during or after it
  bool drained = false;    // what it had sent was brought to an end, though it may have died
};

// Right after the phase.
void check_phase(const SimDisk& disk, const Fate& fate, const ClientModel& model, Story& story);

// After recovery: no leftovers, and each iteration is whole or gone. The model's `before` becomes what is there.
void check_recovered(const SimDisk& disk, const Fate& fate, ClientModel& model, Story& story);

// Where nobody recovers before the next run: the model's `before` becomes what is there, and `leftover` what is not
// yet.
void keep_leftovers(const SimDisk& disk, const Fate& fate, ClientModel& model, Story& story);

// Where the client's file of the iteration may lie: on whichever device.
std::vector<std::string> paths_of(const Config& config, int client, int64_t iteration);

}  // namespace tailrace::impl::simulation
