// Hints: the choices for collective accesses, from the MPI_Info of a file or from words of TAILRACE_MPIIO.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collective/options.hpp"
#include "mpiio/mpi/mpi_header.hpp"

namespace tailrace::mpiio {

struct Choices {
  collective::Options writes;
  collective::Options reads;
  uint64_t sieve_bytes = uint64_t{4} << 20;  // that a process reads at once to get small pieces of them; 0: none
};

// Returns the algorithm of that name: auto, individual, two_phase, dynamic or static.
std::optional<collective::Algorithm> algorithm_named(const std::string& name);
const char* name_of(collective::Algorithm algorithm);

// Returns `choices` with what the hints change: tailrace_collective, romio_cb_write, romio_cb_read, cb_nodes,
// cb_buffer_size, striping_unit, romio_ds_read and ind_rd_buffer_size; tailrace_aggregators=node (or forwarders)
// leaves the aggregation of writes to the place's server (or to the forwarders), so that each process hands over its
// own bytes. A wrong value is reported on standard error, and ignored.
Choices read_hints(MPI_Info info, Choices choices);

}  // namespace tailrace::mpiio
