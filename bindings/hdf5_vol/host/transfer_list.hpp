// The transfer property list. It says how the program wants data moved, and afterwards reports what HDF5 has done.
// HDF5 does not know of data that are carried, so the connector reports for them.
#pragma once

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// Returns true if the list asks for nothing but the defaults; reports of an earlier transfer do not matter.
bool is_usual_transfer(const Host& host, hid_t transfer);

enum class Carried {
  nothing,  // no element was selected
  data,     // contiguous, or in chunks without filters
  chunks    // with filters: written later, as are chunks in HDF5's cache
};
// Sets the reports that plain HDF5 makes of such a transfer. `parallel`: a contiguous dataset in a file of several
// processes.
void describe_transfer(const Host& host, hid_t transfer, Carried what, bool parallel);

// Returns true if all processes take part in a transfer with these properties.
bool is_collective(const Host& host, hid_t transfer);

}  // namespace tailrace::hdf5
