// Identifiers of HDF5 that outlive their objects.
#pragma once

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// HDF5 keeps the identifier of a file whose close has failed, and every later look at all open files then fails. This
// makes HDF5 close the file, whose wrapper is empty now, once more and free the identifier. The callback that returns
// the failure calls it.
void release_identifier_of_file(const Host& host, void* wrapper);

// Returns the object that HDF5 is to find behind an empty wrapper: the wrapper itself while
// release_identifier_of_file() looks for its identifier, else null.
void* behind_empty(const void* wrapper);

}  // namespace tailrace::hdf5
