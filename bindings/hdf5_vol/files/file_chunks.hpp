// FileChunks: what is known of the datasets of one file that are stored in chunks, by their tokens: the chunks that
// are being filtered, and the chunk caches that the program has set but the connector has switched off.
//
// Call it under the host's own lock, as HDF5 calls are made.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hdf5_vol/files/chunk_queue.hpp"
#include "hdf5_vol/host/chunk_cache.hpp"
#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

class FileChunks {
 public:
  // `path` names the file in messages. Adds what HDF5 could not write to `failures`, which is borrowed.
  FileChunks(const Host& host, std::string path, std::vector<std::string>& failures)
      : host_(host), path_(std::move(path)), failures_(failures) {}

  // Returns the chunks that are being filtered for the dataset with that token; the first call makes the queue.
  std::shared_ptr<ChunkQueue> queue_of(const H5O_token_t& token);
  // Gives HDF5 the filtered chunks of all datasets.
  void place();
  // Waits for the chunk that has waited longest, and gives it to HDF5; returns false if there is none.
  bool place_oldest();
  // Waits until HDF5 has all chunks.
  void settle();

  // Keeps the chunk cache of the dataset with that token. cache_of() returns null if there is none.
  void keep_cache(const H5O_token_t& token, const ChunkCache& of) { caches_[key_of(token)] = of; }
  const ChunkCache* cache_of(const H5O_token_t& token) const;

  // Call it in a forked child: forgets the chunks that wait, since the parent places them.
  void leave_to_parent();

 private:
  using Token = std::array<uint8_t, sizeof(H5O_token_t)>;
  static Token key_of(const H5O_token_t& token);

  const Host& host_;
  const std::string path_;
  std::vector<std::string>& failures_;
  std::map<Token, std::shared_ptr<ChunkQueue>> queues_;
  std::map<Token, ChunkCache> caches_;
};

}  // namespace tailrace::hdf5
