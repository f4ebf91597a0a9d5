// Shuffle: puts the bytes of equal significance of all elements together, since those resemble each other. Exactly
// HDF5's filter 2: first the first bytes of all elements, then their second bytes, and so on; bytes at the end that
// are less than an element stay where they are.
#pragma once

#include <cstddef>
#include <span>

namespace tailrace::impl {

// `element`, the bytes of an element, is not 0; `to` is as long as `from` and does not overlap it.
void shuffle(std::span<const std::byte> from, size_t element, std::span<std::byte> to);
// The way back.
void unshuffle(std::span<const std::byte> from, size_t element, std::span<std::byte> to);

}  // namespace tailrace::impl
