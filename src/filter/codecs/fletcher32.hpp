// Fletcher32: the checksum of HDF5's filter 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tailrace::impl {

// Returns Fletcher's checksum of big-endian 16-bit words, the last one padded with 0.
uint32_t fletcher32(std::span<const std::byte> bytes);

}  // namespace tailrace::impl
