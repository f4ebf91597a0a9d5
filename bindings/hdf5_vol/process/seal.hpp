// The seal of an HDF5 file: the first bytes of its superblock behind the signature. HDF5 does not open a file without
// it.
//
// A file whose data are still on their way has its name and its signature, by which programs recognise HDF5, but
// "tailrace" in place of the seal. HDF5 refuses to open it, so no reader sees an incomplete file.
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

// Takes the seal out of a file that HDF5 has closed; its superblock begins at `superblock`. Returns none, and sets
// `why`, if that fails.
std::optional<Seal> take_seal(const std::string& path, uint64_t superblock, std::string& why);

// Returns true if it is an HDF5 file without its seal: its data are on their way, or a crash left it so.
bool lacks_seal(const std::string& path);

}  // namespace tailrace::hdf5
