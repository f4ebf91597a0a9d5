// Reads the outline of a file (format/outline.hpp). Trusts nothing in the file, as far as HDF5 survives it: depth,
// number and size of what it reads are limited. Never writes.
#pragma once

#include <string>

#include "format/outline.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Fails with TAILRACE_IO_ERROR if the file cannot be opened, or is no HDF5 file.
Result<Outline> read_outline(FileSystem& files, const std::string& path, const OutlineWanted& wanted);

}  // namespace tailrace::impl
