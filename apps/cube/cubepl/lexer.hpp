// Lexer: takes CubePL apart into tokens, each with its place in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::cube {

struct Token {
  enum class Kind : uint8_t {
    number,
    text,      // "…", without the quotes
    variable,  // ${…}: the name
    name,      // of a function, a keyword, a metric with its prefix
    regex,     // behind =~: what is between the slashes
    symbol,    // ( ) { } [ ] ; , | + - * / ^ < > <= >= == != = =~ << >>
    end
  };

  Kind kind = Kind::end;
  std::string text;
  double number = 0;
  uint32_t line = 1;
  uint32_t column = 1;
  size_t begin = 0;  // of its letters in the text
  size_t end = 0;

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
  bool is_word(std::string_view word) const { return kind == Kind::name && text == word; }
};

// Where a text is, for errors.
struct Source {
  std::string where;        // such as the metric and the kind of expression
  uint32_t first_line = 1;  // of the text in its file
};

// Throws Error for `token` of `source`: where it is, what was found, and what was expected.
[[noreturn]] void refuse(const Source& source, const Token& token, const std::string& expected);

// Returns all tokens, the last of kind `end`. Throws Error.
std::vector<Token> tokens_of(std::string_view text, const Source& source);

}  // namespace tailrace::cube
