// Objects without links. HDF5 keeps such an object until its last identifier is closed. Then it frees the object's
// space, and the space of all to which only this object leads, and may give it to other objects at once. Writes to
// that space must have ended by then.
//
// tests/hdf5/data/test_freeing.py lists every call of HDF5 that may free space.
#pragma once

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

struct Object;

// Notes that a call for `object` may have made one: by deleting a link, or by creating an object without a name.
void note_unlinked(const Object& object, H5I_type_t type);

// Call it before a call for `object` that may free space: waits for all writes on their way.
void drain_before_unlink(const Object& object, H5I_type_t type);
// Call it before the link is deleted: waits only if writes to the space that it may free are on their way. That space
// is known for a contiguous dataset in a file of one process.
void drain_before_delete(const Object& object, const H5VL_loc_params_t& link);

// Call it before a group is closed: waits for the writes on their way to its file, if it has no link. (Of a dataset
// its own writes matter: Dataset::ends_with_close.)
void drain_before_close(const Object& group);

}  // namespace tailrace::hdf5
