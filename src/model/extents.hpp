// Functions on lists of extents: the order that the engine needs, and lists without some bytes. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/request.hpp"

namespace tailrace::impl {

inline constexpr uint64_t kMostOffset = uint64_t{1} << 62;  // no byte of a file lies at or beyond it

// Sorts the pieces by offset.
void put_in_order(std::vector<Piece>& pieces);

// Returns true if each piece begins at or after the end of the one before.
bool in_order(std::span<const Piece> pieces);

// Assigns contiguous memory to these extents, in their order.
std::vector<Piece> in_turn(std::span<const Extent> extents, std::byte* memory);
uint64_t total_of(std::span<const Extent> extents);

// Returns `pieces` without the bytes in `cuts`. The pieces are in order; cuts may overlap and come in any order.
std::vector<Piece> without(std::span<const Piece> pieces, std::vector<Extent> cuts);

}  // namespace tailrace::impl
