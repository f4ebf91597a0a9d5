// The reading driver: a file driver for HDF5 that reads an open file of a FileSystem, so that HDF5 can read files of
// every storage. Never writes.
//
// No thread waits for storage while it holds LibraryLock: the driver reads bytes that were fetched before, and fails
// at others. The caller then fetches those without the lock, and tries again.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "storage/file_system.hpp"

namespace tailrace::impl {

// An open file for HDF5 to read. It and `files` outlive HDF5's objects of the file. One thread at a time.
class ReadableFile {
 public:
  ReadableFile(const FileSystem& files, FileHandle handle, uint64_t size)
      : files_(files), handle_(handle), size_(size) {}

  uint64_t size() const { return size_; }
  // Returns true if bytes are missing that a read has asked for, or the first ones.
  bool is_missing_some() const { return missing_.has_value(); }
  // Reads missing bytes from storage, and more behind them each time. The caller does not hold LibraryLock.
  Status fetch();
  // Copies bytes that were fetched. Bytes beyond the end of the file are zeros. Returns false if some are missing.
  bool read(uint64_t offset, std::span<std::byte> to);

 private:
  static constexpr uint64_t kPage = uint64_t{64} << 10;
  static constexpr uint64_t kMostPages = 64;  // fetched at once

  const FileSystem& files_;
  const FileHandle handle_;
  const uint64_t size_;
  std::map<uint64_t, std::vector<std::byte>> pages_;  // by number
  std::optional<uint64_t> missing_ = 0;               // the first such page
  uint64_t next_pages_ = 1;                           // to be fetched at once
};

// Makes a file opened with the access property list read `file`, whatever its name. The caller holds LibraryLock.
bool use_readable(hid_t access, ReadableFile* file);

}  // namespace tailrace::impl
