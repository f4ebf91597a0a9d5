// check_files: compares the simulated disk after a phase with the model. Every published file must be complete and
// right, nothing that was promised may be lost, and there may be no file that nobody asked for.
//
// It reads published files with the HDF5 library, and ends the process when something is wrong.
#pragma once

#include "model/config/config.hpp"
#include "testing/simulation/model.hpp"
#include "testing/simulation/sim_disk.hpp"
#include "testing/simulation/story.hpp"

namespace tailrace::impl::simulation {

// How one client's run ended.
struct Fate {
  int client = 0;
  const Config* config = nullptr;
  bool closed = false;     // by itself, so everything was reported
  bool power_cut = false;  // the power was cut during the run or after it
  bool drained = false;    // all verbs that it sent have ended, though it may have died
};

// Checks the disk right after the phase.
void check_phase(const SimDisk& disk, const Fate& fate, const ClientModel& model, Story& story);

// Checks the disk after recovery: there are no leftovers, and each iteration is complete or gone. Sets the model's
// `before` to what is there.
void check_recovered(const SimDisk& disk, const Fate& fate, ClientModel& model, Story& story);

// For a phase without recovery before the next run: sets the model's `before` to what is there, and `leftover` to
// what may still be published.
void keep_leftovers(const SimDisk& disk, const Fate& fate, ClientModel& model, Story& story);

// Returns the paths where the client's file of the iteration may be, one on each device.
std::vector<std::string> paths_of(const Config& config, int client, int64_t iteration);

}  // namespace tailrace::impl::simulation
