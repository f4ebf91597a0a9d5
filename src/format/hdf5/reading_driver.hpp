// The reading driver: a file driver for HDF5 that reads an open file of a FileSystem, so that HDF5 can read files of
// every storage. Never writes.
#pragma once

#include <hdf5.h>

#include "storage/file_system.hpp"

namespace tailrace::impl {

// An open file for HDF5 to read. It and `files` outlive HDF5's objects of the file.
struct ReadableFile {
  const FileSystem* files = nullptr;
  FileHandle handle = 0;
  uint64_t size = 0;
};

// Makes a file opened with the access property list read `file`, whatever its name. The caller holds LibraryLock.
bool use_readable(hid_t access, const ReadableFile* file);

}  // namespace tailrace::impl
