// Shuffle: groups the bytes of equal significance of all elements, since those resemble each other. Identical to
// HDF5's filter 2: first the first bytes of all elements, then their second bytes, and so on; trailing bytes that are
// less than an element stay in place.
#pragma once

#include <cstddef>
#include <span>

namespace tailrace::impl {

// `element` is the size of an element in bytes, not 0; `to` is as long as `from` and does not overlap it.
void shuffle(std::span<const std::byte> from, size_t element, std::span<std::byte> to);
// Undoes shuffle().
void unshuffle(std::span<const std::byte> from, size_t element, std::span<std::byte> to);

}  // namespace tailrace::impl
