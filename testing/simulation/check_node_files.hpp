// check_node_files: what check_files is, where the clients of a node have their files in common: a file is published
// when each of them has ended its iteration or has gone, and at least one has ended it.
//
// What holds for all of a file's parts together is looked at here: they are of one run, it says who has gone without
// ending it, and what one client drops or loses is published for none.
#pragma once

#include <vector>

#include "testing/simulation/check_files.hpp"
#include "testing/simulation/sim_storage.hpp"

namespace tailrace::impl::simulation {

// Right after the phase. `fates` and `models` are by client.
void check_node_phase(const SimDisk& disk, const Faults& faults, const std::vector<Fate>& fates,
                      const std::vector<ClientModel>& models, Story& story);

// After recovery; see check_recovered().
void check_node_recovered(const SimDisk& disk, const Faults& faults, const std::vector<Fate>& fates,
                          std::vector<ClientModel>& models, Story& story);

// Where nobody recovers; see keep_leftovers().
void keep_node_leftovers(const SimDisk& disk, const Faults& faults, const std::vector<Fate>& fates,
                         std::vector<ClientModel>& models, Story& story);

}  // namespace tailrace::impl::simulation
