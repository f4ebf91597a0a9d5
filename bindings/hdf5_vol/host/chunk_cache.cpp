#include "hdf5_vol/host/chunk_cache.hpp"

namespace tailrace::hdf5 {

ChunkCache ChunkCache::of_file(const Host& host, hid_t fapl) {
  ChunkCache cache;
  int unused = 0;
  host.H5Pget_cache(fapl, &unused, &cache.slots, &cache.bytes, &cache.preemption);
  return cache;
}

// Not by H5Pget_chunk_cache, which returns the library's defaults for what the dataset takes from its file.
ChunkCache ChunkCache::of_dataset(const Host& host, hid_t dapl, const ChunkCache& of_file) {
  ChunkCache cache = of_file;
  ChunkCache own;
  if (host.H5Pget(dapl, "rdcc_nslots", &own.slots) >= 0 && own.slots != H5D_CHUNK_CACHE_NSLOTS_DEFAULT)
    cache.slots = own.slots;
  if (host.H5Pget(dapl, "rdcc_nbytes", &own.bytes) >= 0 && own.bytes != H5D_CHUNK_CACHE_NBYTES_DEFAULT)
    cache.bytes = own.bytes;
  if (host.H5Pget(dapl, "rdcc_w0", &own.preemption) >= 0 && own.preemption >= 0) cache.preemption = own.preemption;
  return cache.slots > 0 && cache.bytes > 0 ? cache : ChunkCache{0, 0, cache.preemption};
}

}  // namespace tailrace::hdf5
