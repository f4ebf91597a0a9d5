// What the library below is asked of an object, beside what the program asks.
#pragma once

#include "host.hpp"

namespace tailrace::hdf5 {

struct Object;

// Which file it is in, and which object there; a file number of 0 if that cannot be had.
H5O_info2_t identity_of(const Object& object, H5I_type_t type);

// An identifier of `what` a dataset has; the caller's to close.
hid_t get(const Object& object, H5VL_dataset_get_t what);
// … of that which is open below as `under`.
hid_t get(const Host& host, void* under, H5VL_dataset_get_t what);

// Where the data of a dataset begin in its file; HADDR_UNDEF if they have no place yet, or more than one.
haddr_t place_of(const Object& object);

}  // namespace tailrace::hdf5
