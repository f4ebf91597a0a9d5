// Commas, quotes and escapes. See the header.
#include "bench/pattern/json.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace bench {

void JsonWriter::number(std::string_view key, double value) {
  if (!std::isfinite(value)) return null(key);
  start(key);
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text_.append(digits.data(), end);
}

void JsonWriter::integer(std::string_view key, int64_t value) {
  start(key);
  text_ += std::to_string(value);
}

void JsonWriter::text(std::string_view key, std::string_view value) {
  start(key);
  quote(value);
}

void JsonWriter::boolean(std::string_view key, bool value) {
  start(key);
  text_ += value ? "true" : "false";
}

void JsonWriter::null(std::string_view key) {
  start(key);
  text_ += "null";
}

void JsonWriter::numbers(std::string_view key, const std::vector<double>& values) {
  begin_array(key);
  for (const double value : values) number({}, value);
  end_array();
}

void JsonWriter::open(std::string_view key, char bracket) {
  start(key);
  text_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (depth_ == 0 && !first_) text_ += '\n';
  text_ += bracket;
  first_ = false;
}

void JsonWriter::start(std::string_view key) {
  if (!first_) text_ += depth_ == 1 ? "," : ", ";
  if (depth_ == 1) text_ += "\n ";
  first_ = false;
  if (key.empty()) return;
  quote(key);
  text_ += ": ";
}

void JsonWriter::quote(std::string_view value) {
  static const char* const hex = "0123456789abcdef";
  text_ += '"';
  for (const char c : value) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') text_ += '\\';
    if (code >= 0x20) {
      text_ += c;
    } else {
      text_ += std::string("\\u00") + hex[code >> 4] + hex[code & 15];
    }
  }
  text_ += '"';
}

}  // namespace bench
