// JsonWriter: writes one JSON document, piece by piece, indented by two.
//
// Used only by the report: objects, arrays, numbers, texts. It places commas and quotes correctly; it checks nothing
// else.
#pragma once

#include <cmath>
#include <string>

#include "numbers_list.hpp"

namespace tsunami {

class JsonWriter {
 public:
  void begin_object(const std::string& key = "") { open(key, '{'); }
  void end_object() { close('}'); }
  void begin_array(const std::string& key = "") { open(key, '['); }
  void end_array() { close(']'); }

  void number(const std::string& key, double value) {
    start(key);
    text_ += std::isfinite(value) ? shortest(value) : "null";
  }
  void text(const std::string& key, const std::string& value) {
    start(key);
    quote(value);
  }

  const std::string& document() const { return text_; }

 private:
  void open(const std::string& key, char bracket) {
    start(key);
    text_ += bracket;
    depth_ += 2;
    first_ = true;
  }
  void close(char bracket) {
    depth_ -= 2;
    if (!first_) line();
    text_ += bracket;
    first_ = false;
  }
  void start(const std::string& key) {
    if (!first_) text_ += ',';
    if (depth_ > 0) line();
    first_ = false;
    if (key.empty()) return;
    quote(key);
    text_ += ": ";
  }
  void line() { text_ += '\n' + std::string(depth_, ' '); }
  void quote(const std::string& value) {
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

  std::string text_;
  std::size_t depth_ = 0;
  bool first_ = true;  // in the open object or array
};

}  // namespace tsunami
