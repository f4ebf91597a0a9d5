// Makes large profiles to measure with: from a seed, or of a real one by repeating its locations.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace tailrace::cube {

struct GeneratorOptions {
  uint32_t call_paths = 1000;
  uint32_t processes = 4;
  uint32_t threads = 16;  // locations, of all processes together
  unsigned metrics = 8;
  uint64_t seed = 1;
  bool big_endian = false;
  bool compress = false;
  bool dense = false;  // indices, of metrics with all rows
};

// Writes PATH.partial, and renames it. Call trees have MPI's, OpenMP's and user's regions; inclusive values are at
// least the sums of the children's. Throws Error.
void generate(const GeneratorOptions& options, const std::string& path,
              const std::function<void(uint64_t done, uint64_t all)>& progress);

// Writes the profile `from` with its locations `copies` times. Topologies are left out.
void enlarge(const std::string& from, uint32_t copies, const std::string& path,
             const std::function<void(uint64_t done, uint64_t all)>& progress);

}  // namespace tailrace::cube
