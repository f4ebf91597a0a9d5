// ChunkCache: the size of HDF5's cache for the chunks of a dataset. A dataset may have its own; others have that of
// their file.
#pragma once

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

struct ChunkCache {
  size_t slots = 0;
  size_t bytes = 0;
  double preemption = 0;

  // Returns the cache of a file with these access properties.
  static ChunkCache of_file(const Host& host, hid_t fapl);
  // Returns the cache of a dataset with these access properties, in a file with the cache `of_file`.
  static ChunkCache of_dataset(const Host& host, hid_t dapl, const ChunkCache& of_file);
  // Sets it in the access properties of a dataset; returns false on an error.
  bool set_in(const Host& host, hid_t dapl) const {
    return host.H5Pset_chunk_cache(dapl, slots, bytes, preemption) >= 0;
  }
};

}  // namespace tailrace::hdf5
