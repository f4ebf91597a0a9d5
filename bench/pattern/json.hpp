// JsonWriter: writes one JSON document, piece by piece, on one line an entry of the outermost object.
//
// Objects, arrays, numbers, texts, truth values and null, which stands for what is not known. Keeps commas, quotes
// and escapes right; checks nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

class JsonWriter {
 public:
  void begin_object(std::string_view key = {}) { open(key, '{'); }
  void end_object() { close('}'); }
  void begin_array(std::string_view key = {}) { open(key, '['); }
  void end_array() { close(']'); }

  // A number that is not finite is not known: null.
  void number(std::string_view key, double value);
  void integer(std::string_view key, int64_t value);
  void text(std::string_view key, std::string_view value);
  void boolean(std::string_view key, bool value);
  void null(std::string_view key);
  void numbers(std::string_view key, const std::vector<double>& values);

  // The document, ended by a new line.
  std::string document() const { return text_ + '\n'; }

 private:
  void open(std::string_view key, char bracket);
  void close(char bracket);
  void start(std::string_view key);
  void quote(std::string_view value);

  std::string text_;
  int depth_ = 0;
  bool first_ = true;  // in the object or array that is open
};

}  // namespace bench
