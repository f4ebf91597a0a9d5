// Writes a number of things for a message: "1 write", "2 writes".
#pragma once

#include <cstdint>
#include <string>

namespace tailrace::process {

// `noun` is the singular of a noun whose plural ends in s.
inline std::string counted(uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace tailrace::process
