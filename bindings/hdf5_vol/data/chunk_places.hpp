// Where the chunks of an open dataset lie in its file, as HDF5 says when it is asked for all of them.
//
// Under the host's own lock, as HDF5 calls are.
#pragma once

#include <map>
#include <vector>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

class ChunkPlaces {
 public:
  // The places that HDF5 tells of can be relied on for extents that change in their slowest dimension alone: it has
  // mistaken chunks for one another where others do.
  static bool can_be_told(const Host& host, hid_t space);

  // Returns the place of the chunk that begins at `at` in the dataset open as `under`, whose extent is the same as
  // long as `resized` is; HADDR_UNDEF if it has none, or if the place cannot be found out.
  haddr_t find(const Host& host, void* under, uint64_t resized, const std::vector<hsize_t>& at);

 private:
  void ask(const Host& host, void* under, size_t rank);

  bool known_ = false;
  uint64_t resized_ = 0;  // for which they are known
  std::map<std::vector<hsize_t>, haddr_t> places_;
};

}  // namespace tailrace::hdf5
