// The list of properties of a transfer. It says how the program wants data moved; and afterwards, what HDF5 has done:
// of what is carried HDF5 knows nothing, so the connector says it.
#pragma once

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// Returns true if the list asks for nothing but the usual, whatever it reports about an earlier transfer.
bool is_usual_transfer(const Host& host, hid_t transfer);

enum class Carried {
  nothing,  // no element was selected
  data,     // contiguous, or of chunks without filters
  chunks    // with filters: they are written later, as those are that HDF5 has in its cache
};
// Says in it what plain HDF5 says of such a transfer. `parallel`: of a contiguous dataset in a file of several
// processes.
void describe_transfer(const Host& host, hid_t transfer, Carried what, bool parallel);

// Returns true if all processes take part in a transfer with these properties.
bool is_collective(const Host& host, hid_t transfer);

}  // namespace tailrace::hdf5
