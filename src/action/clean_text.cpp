#include "action/clean_text.hpp"

#include <algorithm>
#include <cstdint>

namespace tailrace::impl {
namespace {

// Returns the bytes of the UTF-8 character at the beginning of `rest`; 0 if there is none. Overlong forms, surrogates
// and numbers beyond the last character are invalid.
size_t length_of_character(std::string_view rest) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(rest[i])); };
  const uint32_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || rest.size() < length) return 0;
  uint32_t character = first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    character = character << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  return character >= least[length] && character <= 0x10ffff && !surrogate ? length : 0;
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const size_t length = length_of_character(text);
    if (length == 0 || is_control(text[0])) {
      clean += '?';
    } else {
      clean += text.substr(0, length);
    }
    text.remove_prefix(std::max(length, size_t{1}));
  }
  return clean;
}

}  // namespace tailrace::impl
