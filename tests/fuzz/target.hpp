// The frame of every fuzz target: the function that libFuzzer or replay.cpp calls, and checks of messages.
//
// A property that does not hold ends the process (TAILRACE_REQUIRE), which the fuzzer detects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tailrace::fuzz {

// Returns true if `text` is UTF-8 as Python accepts it: no stray, missing or overlong bytes, no surrogates. With
// `printable`, it also has no control characters, including those beyond ASCII.
inline bool is_utf8(std::string_view text, bool printable = false) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t length = first < 0x80   ? 1
                          : first < 0xc2 ? 0
                          : first < 0xe0 ? 2
                          : first < 0xf0 ? 3
                          : first < 0xf5 ? 4
                                         : 0;
    if (length == 0 || length > text.size() - i) return false;
    uint32_t code = length == 1 ? first : first & (0xffU >> (length + 1));
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3f);
    }
    const uint32_t least = length == 3 ? 0x800 : length == 4 ? 0x10000 : 0;
    if (printable && (code < 0x20 || (code >= 0x7f && code < 0xa0))) return false;
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    i += length;
  }
  return true;
}

// Requires that a message is one line that a terminal and Python can show.
inline void require_readable(std::string_view message) {
  TAILRACE_REQUIRE(!message.empty());
  TAILRACE_REQUIRE(is_utf8(message, true));
}

}  // namespace tailrace::fuzz
