// ArrayPlaces: where the arrays lie in a file that several nodes write together.
//
// Each node computes the same places from the global shapes that its clients have: nothing waits for another one. An
// array has its place in every iteration, also if no block of it comes. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "model/block.hpp"
#include "model/declarations.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

struct ArrayPlaces {
  std::map<std::string, Extent> of;  // by dataset
  uint64_t end = 0;                  // of the last one
};

// Returns the offset behind `end` of the next array, of this size: large ones begin at a page, so that transfers may
// bypass the page cache.
uint64_t next_place(uint64_t end, uint64_t bytes);

// `layouts`: those of a client. `begin`: where the first array may begin.
ArrayPlaces array_places(const Declarations& declared, const Layouts& layouts, uint64_t begin);

}  // namespace tailrace::impl
