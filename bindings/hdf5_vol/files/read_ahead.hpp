// ReadAhead: bytes of a file that were read before the program asked for them, since it reads rows in
// succession.
//
// They are never older than those that a read would return: writes change them, or have them forgotten.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "process_client/bytes/sieve.hpp"
#include "process_client/file_key.hpp"

namespace tailrace::hdf5 {

class PendingWrites;

class ReadAhead {
 public:
  // Reads the file `key`, which has that path. `may_be`: no other process writes to it.
  ReadAhead(std::string path, const process::FileKey& key, bool may_be)
      : path_(std::move(path)), key_(key), works_(may_be) {}
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Returns `bytes` of a dataset as a read would, if they have been read ahead, or are now, because this read follows
  // the one before; else null. They stay until the next call. `writes` has what is on its way to the file.
  const std::byte* find(const tailrace_extent& dataset, const tailrace_extent& bytes, PendingWrites& writes);
  // Changes what is held of the extents. `data`: null if they are not known.
  void overwrite(std::span<const tailrace_extent> extents, const void* data) {
    data != nullptr ? sieves_.overwrite(extents, data) : sieves_.forget();
  }
  void forget() { sieves_.forget(); }
  // Also gives back the memory for the dataset that begins there.
  void forget(uint64_t dataset) { sieves_.forget(dataset); }

 private:
  uint64_t read(const tailrace_extent& bytes, PendingWrites& writes, std::byte* to);
  bool open();

  const std::string path_;
  const process::FileKey key_;
  process::Sieves sieves_;
  int descriptor_ = -1;  // -1: not yet, or there cannot be one
  bool works_;           // unless it may not be, or has failed
};

}  // namespace tailrace::hdf5
