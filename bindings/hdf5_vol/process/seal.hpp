// The seal of an HDF5 file: the first bytes of its superblock behind the signature, without which no HDF5 opens it.
//
// A file whose data are still on their way has its name and its signature, by which programs know that it is HDF5's,
// and "tailrace" in place of the seal. Whoever opens it then is refused by HDF5, and never sees half of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tailrace::hdf5 {

struct Seal {
  uint64_t offset;  // in the file
  std::array<std::byte, 8> bytes;
};

// Takes the seal out of a file that HDF5 has closed, and whose superblock begins at `superblock`. None if that cannot
// be done, and `why`.
std::optional<Seal> take_seal(const std::string& path, uint64_t superblock, std::string& why);

// Returns true if it is an HDF5 file without its seal: its data are on their way, or it was left so.
bool lacks_seal(const std::string& path);

}  // namespace tailrace::hdf5
