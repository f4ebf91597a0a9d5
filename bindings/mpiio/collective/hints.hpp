// Hints: the choices for collective accesses, from the MPI_Info of a file or from words of TAILRACE_MPIIO.
#pragma once

#include <cstdint>
#include <string>

#include "collective/options.hpp"
#include "mpiio/mpi/mpi_header.hpp"

namespace tailrace::mpiio {

struct Choices {
  collective::Options writes;
  collective::Options reads;
  bool tunes = false;  // the options of writes are found by trials, where their algorithm is `automatic`
  uint64_t sieve_bytes = uint64_t{4} << 20;  // that a process reads at once to get small pieces of them; 0: none
};

// Take the algorithm of that name: auto, tune, individual, two_phase, dynamic or static. Returns false if the name is
// none of these.
bool take_algorithm(const std::string& name, Choices& choices);
// Returns that name of the algorithm for writes.
const char* name_of(const Choices& choices);

// Returns `choices` with what the hints change: tailrace_collective, romio_cb_write, romio_cb_read, cb_nodes,
// tailrace_aggregators_per_group, cb_buffer_size, striping_unit, romio_ds_read and ind_rd_buffer_size;
// tailrace_aggregators=node (or forwarders) leaves the aggregation of writes to the place's server (or to the
// forwarders), so that each process hands over its own bytes. A wrong value is reported on standard error, and
// ignored.
Choices read_hints(MPI_Info info, Choices choices);

}  // namespace tailrace::mpiio
