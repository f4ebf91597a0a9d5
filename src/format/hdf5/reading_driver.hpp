// The reading driver: a file driver for HDF5 that reads an open file of a FileSystem, so that HDF5 looks at a file
// wherever the storage has it. Never writes.
#pragma once

#include <hdf5.h>

#include "storage/file_system.hpp"

namespace tailrace::impl {

// An open file that HDF5 reads. Both outlive what HDF5 opens.
struct ReadableFile {
  const FileSystem* files = nullptr;
  FileHandle handle = 0;
  uint64_t size = 0;
};

// Makes a file opened with the access property list be `file`, whatever its name. LibraryLock is held.
bool use_readable(hid_t access, const ReadableFile* file);

}  // namespace tailrace::impl
