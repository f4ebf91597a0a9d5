// Identifiers for tailrace's configuration, made of names of Damaris.
#pragma once

#include <string>

namespace tailrace::damaris {

inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Makes an identifier of a name with groups, which is not empty.
inline std::string identifier(const std::string& name) {
  constexpr size_t longest = 150;
  std::string result = is_letter(name.front()) ? "" : "v";
  for (const char c : name.substr(0, longest)) result += is_letter(c) || is_digit(c) ? c : '_';
  return result;
}

}  // namespace tailrace::damaris
