// Hints: the choices for writes of all, from the MPI_Info of a file or from words of TAILRACE_MPIIO.
#pragma once

#include <optional>
#include <string>

#include "collective/options.hpp"
#include "mpiio/mpi/mpi_header.hpp"

namespace tailrace::mpiio {

// Returns the algorithm of that name: auto, individual, two_phase, dynamic or static.
std::optional<collective::Algorithm> algorithm_named(const std::string& name);
const char* name_of(collective::Algorithm algorithm);

// Returns `options` with what the hints change: tailrace_collective, romio_cb_write, cb_nodes, cb_buffer_size and
// striping_unit; tailrace_aggregators=node (or forwarders) leaves the aggregation to the place's server (or to the
// forwarders), so that each process hands over its own bytes. A wrong value is reported on standard error, and
// ignored.
collective::Options read_hints(MPI_Info info, collective::Options options);

}  // namespace tailrace::mpiio
