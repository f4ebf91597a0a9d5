// Parses lists of numbers. See the header.
#include "numbers_list.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "error.hpp"

namespace tsunami {

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<double> parse_numbers(const std::string& text, std::size_t count, const std::string& option,
                                  const std::string& form) {
  const auto parts = split_at_commas(text);
  if (parts.size() != count) {
    throw Error(option + ": found " + std::to_string(parts.size()) + " values in '" + text + "', expected " +
                std::to_string(count) + ": " + form);
  }
  std::vector<double> values;
  for (const std::string& part : parts) {
    const std::size_t skip = part.find_first_not_of(" +");
    double value = 0;
    const char* begin = part.data() + (skip == std::string::npos ? part.size() : skip);
    const char* end = part.data() + part.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || stop != end || !std::isfinite(value)) {
      throw Error(option + ": found '" + part + "' in '" + text + "', expected a number: " + form);
    }
    values.push_back(value);
  }
  return values;
}

std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

}  // namespace tsunami
