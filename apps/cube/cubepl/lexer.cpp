#include "cube/cubepl/lexer.hpp"

#include <charconv>

#include "cube/archive/error.hpp"

namespace tailrace::cube {
namespace {

// ASCII, whatever the locale is.
bool is_space(char letter) { return letter == ' ' || (letter >= '\t' && letter <= '\r'); }
bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool begins_name(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

class Lexer {
 public:
  Lexer(std::string_view text, const Source& source) : text_(text), source_(source), line_(source.first_line) {}

  std::vector<Token> all() {
    std::vector<Token> tokens;
    do {
      skip_blanks();
      const size_t begin = at_;
      tokens.push_back(next());
      tokens.back().begin = begin;
      tokens.back().end = at_;
      after_match_ = tokens.back().is("=~");
    } while (tokens.back().kind != Token::Kind::end);
    return tokens;
  }

 private:
  char at(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool done() const { return at_ >= text_.size(); }

  void advance() {
    if (text_[at_++] == '\n') {
      ++line_;
      line_begin_ = at_;
    }
  }

  void skip_blanks() {
    while (!done()) {
      if (is_space(at())) {
        advance();
      } else if (at() == '/' && at(1) == '/' && !after_match_) {
        while (!done() && at() != '\n') advance();
      } else {
        return;
      }
    }
  }

  Token next() {
    Token token;
    token.line = line_;
    token.column = static_cast<uint32_t>(at_ - line_begin_ + 1);
    if (done()) return token;
    if (after_match_ && at() == '/') return quoted(token, Token::Kind::regex, '/');
    if (at() == '"') return quoted(token, Token::Kind::text, '"');
    if (at() == '$') return variable(token);
    if (is_digit(at()) || (at() == '.' && is_digit(at(1)))) return number(token);
    if (begins_name(at())) return name(token);
    return symbol(token);
  }

  // Behind a backslash, the quote does not end the text. In a text, the backslash is left out.
  Token quoted(Token token, Token::Kind kind, char quote) {
    token.kind = kind;
    advance();
    while (!done() && at() != quote) {
      if (at() == '\\' && at(1) == quote) advance();
      token.text += at();
      advance();
    }
    if (done())
      refuse(source_, token, std::string("expected ") + quote + " at the end of it, found the end of the text");
    advance();
    return token;
  }

  Token variable(Token token) {
    token.kind = Token::Kind::variable;
    advance();
    skip_blanks();
    if (at() != '{') refuse_here("expected { behind $");
    advance();
    skip_blanks();
    while (!done() && at() != '}' && !is_space(at())) {
      token.text += at();
      advance();
    }
    skip_blanks();
    if (at() != '}') refuse_here("expected } behind the variable's name");
    advance();
    if (token.text.empty()) refuse(source_, token, "expected a name between ${ and }, found none");
    return token;
  }

  Token number(Token token) {
    token.kind = Token::Kind::number;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), token.number);
    if (error != std::errc()) refuse_here("expected a number that a double can hold");
    token.text.assign(begin, end);
    at_ += static_cast<size_t>(end - begin);
    return token;
  }

  // Names of metrics may have other letters, and end at "(".
  Token name(Token token) {
    token.kind = Token::Kind::name;
    const auto belongs = [&] {
      if (begins_name(at()) || is_digit(at()) || at() == '#') return true;
      if (token.text.find("metric::") != std::string::npos) return !is_space(at()) && at() != '(';
      return at() == ':' && (at(1) == ':' || (!token.text.empty() && token.text.back() == ':'));
    };
    while (!done() && belongs()) {
      token.text += at();
      advance();
    }
    return token;
  }

  Token symbol(Token token) {
    token.kind = Token::Kind::symbol;
    for (const std::string_view two : {"<=", ">=", "==", "!=", "=~", "<<", ">>"}) {
      if (text_.substr(at_, 2) == two) token.text = two;
    }
    if (token.text.empty() && std::string_view("(){}[];,|+-*/^<>=").find(at()) != std::string_view::npos) {
      token.text = at();
    }
    if (token.text.empty()) refuse_here("expected an expression");
    for (size_t letter = 0; letter < token.text.size(); ++letter) advance();
    return token;
  }

  [[noreturn]] void refuse_here(const std::string& expected) const {
    Token token;
    token.kind = done() ? Token::Kind::end : Token::Kind::symbol;
    token.text = done() ? "" : std::string(1, at());
    token.line = line_;
    token.column = static_cast<uint32_t>(at_ - line_begin_ + 1);
    refuse(source_, token, expected);
  }

  const std::string_view text_;
  const Source& source_;
  size_t at_ = 0;
  size_t line_begin_ = 0;
  uint32_t line_;
  bool after_match_ = false;
};

}  // namespace

void refuse(const Source& source, const Token& token, const std::string& expected) {
  std::string found;
  if (expected.find("found") == std::string::npos) {
    found = token.kind == Token::Kind::end ? ", found the end of the text" : ", found `" + token.text + "`";
  }
  throw Error(source.where + ", line " + std::to_string(token.line) + ", column " + std::to_string(token.column) +
              ": " + expected + found);
}

std::vector<Token> tokens_of(std::string_view text, const Source& source) { return Lexer(text, source).all(); }

}  // namespace tailrace::cube
