// check_raw_files: the raw files on the simulated disk after a phase, compared with their models: all that was handed
// over to a server that lived, or was followed by another, is there; after a power cut, all that was synced.
//
// Ends the process when something is wrong.
#pragma once

#include "testing/simulation/raw_file_model.hpp"
#include "testing/simulation/sim_disk.hpp"
#include "testing/simulation/sim_storage.hpp"
#include "testing/simulation/story.hpp"

namespace tailrace::impl::simulation {

void check_raw_files(const SimDisk& disk, const Faults& faults, const RawFileModels& models, bool power_cut,
                     Story& story);

}  // namespace tailrace::impl::simulation
