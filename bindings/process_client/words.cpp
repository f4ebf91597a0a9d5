#include "process_client/words.hpp"

#include <charconv>
#include <sstream>

namespace tailrace::process {
namespace {

// Returns false if a percent sign is not followed by the two digits of a byte that a path can have.
bool decode(const std::string& quoted, std::string& word) {
  constexpr size_t kDigits = 2;
  for (size_t at = 0; at < quoted.size(); ++at) {
    if (quoted[at] != '%') {
      word += quoted[at];
      continue;
    }
    unsigned char byte = 0;
    const char* const digits = quoted.data() + at + 1;
    const bool enough = quoted.size() - at > kDigits;
    if (!enough || std::from_chars(digits, digits + kDigits, byte, 16).ptr != digits + kDigits || byte == 0) {
      return false;
    }
    word += static_cast<char>(byte);
    at += kDigits;
  }
  return true;
}

}  // namespace

std::string split_words(const std::string& text, std::vector<std::string>& words) {
  std::istringstream blanks(text);
  for (std::string quoted; blanks >> quoted;) {
    if (!decode(quoted, words.emplace_back())) {
      return "found '" + quoted +
             "', expected two hexadecimal digits after each %, such as %20 for a blank or %25 for %";
    }
  }
  return "";
}

}  // namespace tailrace::process
