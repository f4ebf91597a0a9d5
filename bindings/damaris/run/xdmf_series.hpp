// XdmfSeries: the XDMF file of a whole run, which has the iterations of all servers in succession.
//
// The servers write an XDMF file for each iteration (or the first). When they have ended, one rank puts these
// together.
#pragma once

#include "damaris/ranks/ranks.hpp"
#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

// Removes the files of an earlier run.
void remove_xdmf_series(const Model& model);

// Collective over the ranks that write: the servers, or all clients if there are none. Waits for the others at most
// `seconds`. One rank writes a file for each store that has XDMF files.
void write_xdmf_series(const Model& model, const Ranks& ranks, double seconds);

}  // namespace tailrace::damaris
