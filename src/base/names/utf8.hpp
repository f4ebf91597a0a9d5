// UTF-8 (RFC 3629): the characters of texts that come from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tailrace::impl {

struct Utf8Character {
  size_t bytes = 0;  // 0: the text does not begin with a character in UTF-8
  uint32_t code = 0;

  bool is_control() const { return code < 0x20 || (code >= 0x7f && code < 0xa0); }
};

// Returns the character at the beginning of `text`, which is not empty.
Utf8Character first_character(std::string_view text);
// Returns true if all of `text` is UTF-8.
bool is_utf8(std::string_view text);

}  // namespace tailrace::impl
