// Writes a number of things for a message: "1 block", "2 blocks".
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tailrace::impl {

// `noun` is the singular of a noun whose plural ends in s.
inline std::string counted(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace tailrace::impl
