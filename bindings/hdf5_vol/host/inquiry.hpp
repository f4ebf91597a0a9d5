// Asks the library below about an open object, which it knows as `under`.
#pragma once

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// Returns the number of the file that contains the object, and the object's token there; the number is 0 if HDF5 does
// not report it.
H5O_info2_t identity_of(const Host& host, void* under, H5I_type_t type);
// Returns the same for the object at `where`, seen from `under`.
H5O_info2_t identity_of(const Host& host, void* under, const H5VL_loc_params_t& where);

// Returns an identifier of the dataset's property `what`; the caller closes it.
hid_t get(const Host& host, void* under, H5VL_dataset_get_t what);

// Returns where the data of a dataset begin in its file; HADDR_UNDEF if they have no place yet, or several.
haddr_t place_of(const Host& host, void* under);

}  // namespace tailrace::hdf5
