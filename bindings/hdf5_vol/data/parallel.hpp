// Handles files that several processes have open together by parallel HDF5 (driver mpio).
//
// All processes make a collective call, and in it HDF5 may make each wait for all. tailrace itself never calls MPI.
// No process may wait for one that does not come: either all pass a call on to HDF5, or each goes on by itself. The
// decision depends on the dataset and the kind of transfer, which are the same in each process.
#pragma once

#include <optional>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

struct Object;

// Waits for all writes on their way if several processes share files. Call it before a call in which HDF5 may write
// with all of them together: MPI-IO reads the holes between their data first and writes them back later, over any
// data that have arrived meanwhile. It begins when all have waited.
void drain_before_mpi(const Host& host);

// While it lives, `transfer()` is a copy of the properties `like` without collective I/O, for calls of the library
// below. They run in a library state of their own: the state of the call that is in progress keeps the properties
// that it has looked up.
class AloneTransfer {
 public:
  AloneTransfer(const Host& host, hid_t like);
  ~AloneTransfer();
  AloneTransfer(const AloneTransfer&) = delete;
  AloneTransfer& operator=(const AloneTransfer&) = delete;
  hid_t transfer() const { return transfer_; }

 private:
  const Host& host_;
  hid_t transfer_;
  std::optional<LibraryState> state_;
};

// Waits for all writes on their way, to all files. In a collective call for `object` in a file of several processes,
// waits until all of them have done so: any of them may reuse the space that the call frees.
void drain_everywhere(const Object& object, H5I_type_t type);

}  // namespace tailrace::hdf5
