// The differences of files that several processes have open together by parallel HDF5 (driver mpio).
//
// All processes make a collective call, and in it HDF5 may make each wait for all. tailrace itself never calls MPI.
// So that no process waits for one that does not come, either all pass a call on to HDF5 or each goes on by itself.
// The decision depends on the dataset and the kind of transfer, which are the same in each process.
#pragma once

#include <optional>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

struct Object;

// Waits for all that is on its way if there are files of several processes: before what HDF5 may write by all of them
// together. MPI-IO writes back holes between what they write as they were, whatever has come there meanwhile; and it
// begins when all have waited.
void drain_before_mpi();

// While it lives, calls of the library below may have `transfer()`: like `like`, but nobody else takes part. In a
// state of the library of their own, as the one of the call it is in the middle of keeps what it has once looked up.
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

// Waits for all that is on its way, of all files; and, in a collective call for `object` in a file of several
// processes, until all of them have: space that is free is used again by any of them.
void drain_everywhere(const Object& object, H5I_type_t type);

}  // namespace tailrace::hdf5
