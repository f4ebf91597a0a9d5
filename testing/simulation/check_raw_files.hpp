// check_raw_files: compares the raw files on the simulated disk after a phase with their models. Everything that was
// handed over to a server that lived, or was replaced, is there; after a power cut, everything that was synced.
//
// It ends the process when something is wrong.
#pragma once

#include "testing/simulation/raw_file_model.hpp"
#include "testing/simulation/sim_disk.hpp"
#include "testing/simulation/sim_storage.hpp"
#include "testing/simulation/story.hpp"

namespace tailrace::impl::simulation {

void check_raw_files(const SimDisk& disk, const Faults& faults, const RawFileModels& models, bool power_cut,
                     Story& story);

}  // namespace tailrace::impl::simulation
