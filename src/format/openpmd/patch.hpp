// ParticlePatch: the particles of a client's blocks of a species, and the box in which they are. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace tailrace::impl {

struct ParticlePatch {
  uint64_t particles = 0;
  uint64_t first = 0;  // index of the first of them in the datasets
  std::vector<double> offset;
  std::vector<double> extent;
  bool operator==(const ParticlePatch&) const = default;
};

using ParticlePatches = std::map<int, ParticlePatch>;  // by client

}  // namespace tailrace::impl
