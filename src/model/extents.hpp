// Lists of extents: what a list must be so that a request can be made of it, and the order in which the engine has
// it.
//
// Pure functions. Where a list comes from outside, whoever makes a request of it calls check_extents first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

inline constexpr uint64_t kMostOffset = uint64_t{1} << 62;  // no byte of a file lies at or past it

// Why no request can be made of `extents`, which may come in any order: an empty one, one past kMostOffset, or two
// that overlap, each named by its place in the list. O(n) if they come in order, O(n log n) if not.
Status check_extents(std::span<const Extent> extents);

// Puts the pieces in order of offset.
void put_in_order(std::vector<Piece>& pieces);

// Returns true if each piece begins at or after the end of the one before.
bool in_order(std::span<const Piece> pieces);

// Memory that lies side by side, to or from these extents in their order.
std::vector<Piece> in_turn(std::span<const Extent> extents, std::byte* memory);
uint64_t total_of(std::span<const Extent> extents);

// Returns the rest of `pieces` without the bytes in `cuts`. The pieces are in order; cuts may overlap and come in any
// order.
std::vector<Piece> without(std::span<const Piece> pieces, std::vector<Extent> cuts);

}  // namespace tailrace::impl
