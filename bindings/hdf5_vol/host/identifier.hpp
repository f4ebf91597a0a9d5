// Identifiers of HDF5, which stay though what they stand for is gone.
#pragma once

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// HDF5 keeps the identifier of a file whose close has failed, and whatever looks at all open files fails from then
// on. Has HDF5 close the file once more, whose wrapper is empty by now, and give the identifier back. To be called by
// the callback that returns the failure.
void release_identifier_of_file(const Host& host, void* wrapper);

// Returns the object that HDF5 is to find behind an empty wrapper: the wrapper itself while its identifier is looked
// for, else nothing.
void* behind_empty(const void* wrapper);

}  // namespace tailrace::hdf5
