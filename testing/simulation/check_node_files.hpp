// check_node_files: the same as check_files, for clients of a node that share files. A file is published when each of
// them has ended its iteration or has gone, and at least one has ended it.
//
// It checks what holds for all parts of a file together: they belong to one run, the file names the clients that went
// without ending it, and what one client drops or loses is published for none.
#pragma once

#include <vector>

#include "testing/simulation/check_files.hpp"
#include "testing/simulation/sim_storage.hpp"

namespace tailrace::impl::simulation {

// Checks the disk right after the phase. `fates` and `models` are by client.
void check_node_phase(const SimDisk& disk, const Faults& faults, const std::vector<Fate>& fates,
                      const std::vector<ClientModel>& models, Story& story);

// Checks the disk after recovery; see check_recovered().
void check_node_recovered(const SimDisk& disk, const Faults& faults, const std::vector<Fate>& fates,
                          std::vector<ClientModel>& models, Story& story);

// For a phase without recovery; see keep_leftovers().
void keep_node_leftovers(const SimDisk& disk, const Faults& faults, const std::vector<Fate>& fates,
                         std::vector<ClientModel>& models, Story& story);

}  // namespace tailrace::impl::simulation
