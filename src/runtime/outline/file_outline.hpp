// The outline of a file in the file system, plain or striped, and the objects of striped files: for those who show
// files to people. Never writes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "format/outline.hpp"

namespace tailrace::impl {

// The places of a striped file.
struct StripePlaces {
  uint64_t unit = 0;   // bytes of a stripe
  uint32_t first = 0;  // the object with the first stripe
  uint32_t index = 0;  // of the object that has been looked at
  std::vector<std::string> objects{};
};

// Returns the outline of an HDF5 file. Fails with the errno of the file system, and with TAILRACE_IO_ERROR if it is
// none.
Result<Outline> file_outline(const std::string& path, const OutlineWanted& wanted);
// Returns the bytes of a file; of a striped one those of all its objects.
Result<uint64_t> file_bytes(const std::string& path);
// Returns the content of a file, at most `most` bytes.
Result<std::string> file_text(const std::string& path, size_t most);
// Returns where a striped file lies; none if it is not one. Fails if its head is damaged.
Result<std::optional<StripePlaces>> stripes_of(const std::string& path);

struct StripedObjects {
  size_t count = 0;
  std::vector<std::string> lost{};  // the names of those that a crash has left without a file
};

// Returns the objects in a directory that have names of their own.
StripedObjects striped_objects_in(const std::string& directory);

}  // namespace tailrace::impl
