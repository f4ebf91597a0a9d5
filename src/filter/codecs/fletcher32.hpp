// Fletcher32: the checksum of HDF5's filter 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tailrace::impl {

// Fletcher's checksum of big-endian words of 16 bits, the last one filled up with 0.
uint32_t fletcher32(std::span<const std::byte> bytes);

}  // namespace tailrace::impl
