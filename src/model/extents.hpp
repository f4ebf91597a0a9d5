// Functions on lists of extents: checks that a request can be made of a list, and the order that the engine needs.
//
// Pure functions. Code that makes a request of a list from outside calls check_extents first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

inline constexpr uint64_t kMostOffset = uint64_t{1} << 62;  // no byte of a file lies at or beyond it

// Returns why no request can be made of `extents`, which may come in any order: an empty extent, one beyond
// kMostOffset, or two that overlap. The message names extents by their index. O(n) for a sorted list, O(n log n)
// otherwise.
Status check_extents(std::span<const Extent> extents);

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
