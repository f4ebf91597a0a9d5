// OwnData: the data that a process brings to a collective write. A port: the door that has the data implements it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "collective/own_places.hpp"

namespace tailrace::collective {

class OwnData : public OwnPlaces {
 public:
  // Copies the data from byte `begin` to `begin` + `length` to `out`.
  virtual void copy(uint64_t begin, uint64_t length, std::byte* out) const = 0;
};

}  // namespace tailrace::collective
