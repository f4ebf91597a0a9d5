// OwnSpace: the memory of a process for the data of a collective read. A port: the door that has the memory
// implements it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/own_places.hpp"

namespace tailrace::collective {

class OwnSpace : public OwnPlaces {
 public:
  // Copies `from` to the data from byte `begin` to `begin` + `length`.
  virtual void store(uint64_t begin, uint64_t length, const std::byte* from) = 0;
};

}  // namespace tailrace::collective
