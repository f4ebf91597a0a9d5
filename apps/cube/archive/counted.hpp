// Writes a number of things for a message: "1 row", "2 rows".
#pragma once

#include <cstdint>
#include <string>

namespace tailrace::cube {

// `noun` is the singular of a noun whose plural ends in s.
inline std::string counted(uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace tailrace::cube
