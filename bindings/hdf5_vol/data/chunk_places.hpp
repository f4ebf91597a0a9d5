// ChunkPlaces knows where the chunks of an open dataset lie in its file. It asks HDF5 for all of them at once.
//
// Call it under the host's own lock, as HDF5 calls are made.
#pragma once

#include <map>
#include <vector>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

class ChunkPlaces {
 public:
  // Returns true if the places that HDF5 reports are reliable. They are for extents that change in their slowest
  // dimension alone: HDF5 has mistaken chunks for one another where other dimensions changed.
  static bool can_be_told(const Host& host, hid_t space);

  // Returns the place of the chunk that begins at `at` in the dataset open as `under`; HADDR_UNDEF if the chunk has
  // none, or if HDF5 cannot say. The extent of the dataset does not change while `resized` is the same.
  haddr_t find(const Host& host, void* under, uint64_t resized, const std::vector<hsize_t>& at);

 private:
  void ask(const Host& host, void* under, size_t rank);

  bool known_ = false;
  uint64_t resized_ = 0;  // the value of `resized` for which places_ holds
  std::map<std::vector<hsize_t>, haddr_t> places_;
};

}  // namespace tailrace::hdf5
