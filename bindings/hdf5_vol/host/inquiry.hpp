// Questions of the connector to the library below about an open object, which it knows as `under`.
#pragma once

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// Returns the number of the file that the object is in, and the object's token there; 0 as the file's number if HDF5
// does not say it.
H5O_info2_t identity_of(const Host& host, void* under, H5I_type_t type);

// Returns an identifier of `what` the dataset has, which the caller closes.
hid_t get(const Host& host, void* under, H5VL_dataset_get_t what);

// Returns where the data of a dataset begin in its file; HADDR_UNDEF if they have no place yet, or more than one.
haddr_t place_of(const Host& host, void* under);

}  // namespace tailrace::hdf5
