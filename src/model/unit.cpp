#include "model/unit.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "base/names/nearest_word.hpp"

namespace tailrace::impl {
namespace {

constexpr size_t longest_text = 128;
constexpr int largest_power = 12;

// value_in_SI = mantissa · 10^exponent · value. The power of ten is applied last, so that "mg" and "kPa" are exact.
struct KnownUnit {
  std::string_view symbol;
  double mantissa;
  int exponent;
  std::array<int, 7> powers;  // m kg s A K mol cd
  bool takes_prefix;
};

constexpr KnownUnit known_units[] = {
    {"m", 1, 0, {1, 0, 0, 0, 0, 0, 0}, true},
    {"g", 1, -3, {0, 1, 0, 0, 0, 0, 0}, true},
    {"s", 1, 0, {0, 0, 1, 0, 0, 0, 0}, true},
    {"A", 1, 0, {0, 0, 0, 1, 0, 0, 0}, true},
    {"K", 1, 0, {0, 0, 0, 0, 1, 0, 0}, true},
    {"mol", 1, 0, {0, 0, 0, 0, 0, 1, 0}, true},
    {"cd", 1, 0, {0, 0, 0, 0, 0, 0, 1}, true},
    {"N", 1, 0, {1, 1, -2, 0, 0, 0, 0}, true},
    {"Pa", 1, 0, {-1, 1, -2, 0, 0, 0, 0}, true},
    {"J", 1, 0, {2, 1, -2, 0, 0, 0, 0}, true},
    {"W", 1, 0, {2, 1, -3, 0, 0, 0, 0}, true},
    {"Hz", 1, 0, {0, 0, -1, 0, 0, 0, 0}, true},
    {"C", 1, 0, {0, 0, 1, 1, 0, 0, 0}, true},
    {"V", 1, 0, {2, 1, -3, -1, 0, 0, 0}, true},
    {"Ohm", 1, 0, {2, 1, -3, -2, 0, 0, 0}, true},
    {"S", 1, 0, {-2, -1, 3, 2, 0, 0, 0}, true},
    {"F", 1, 0, {-2, -1, 4, 2, 0, 0, 0}, true},
    {"H", 1, 0, {2, 1, -2, -2, 0, 0, 0}, true},
    {"Wb", 1, 0, {2, 1, -2, -1, 0, 0, 0}, true},
    {"T", 1, 0, {0, 1, -2, -1, 0, 0, 0}, true},
    {"lm", 1, 0, {0, 0, 0, 0, 0, 0, 1}, true},
    {"lx", 1, 0, {-2, 0, 0, 0, 0, 0, 1}, true},
    {"Bq", 1, 0, {0, 0, -1, 0, 0, 0, 0}, true},
    {"Gy", 1, 0, {2, 0, -2, 0, 0, 0, 0}, true},
    {"Sv", 1, 0, {2, 0, -2, 0, 0, 0, 0}, true},
    {"kat", 1, 0, {0, 0, -1, 0, 0, 1, 0}, true},
    {"rad", 1, 0, {}, true},
    {"sr", 1, 0, {}, true},
    {"deg", std::numbers::pi / 180, 0, {}, false},
    {"L", 1, -3, {3, 0, 0, 0, 0, 0, 0}, true},
    {"l", 1, -3, {3, 0, 0, 0, 0, 0, 0}, true},
    {"t", 1, 3, {0, 1, 0, 0, 0, 0, 0}, true},
    {"bar", 1, 5, {-1, 1, -2, 0, 0, 0, 0}, true},
    {"eV", 1.602176634, -19, {2, 1, -2, 0, 0, 0, 0}, true},
    {"min", 60, 0, {0, 0, 1, 0, 0, 0, 0}, false},
    {"h", 3600, 0, {0, 0, 1, 0, 0, 0, 0}, false},
    {"day", 86400, 0, {0, 0, 1, 0, 0, 0, 0}, false},
    {"d", 86400, 0, {0, 0, 1, 0, 0, 0, 0}, false},
    {"1", 1, 0, {}, false},
    {"%", 1, -2, {}, false},
};

struct Prefix {
  std::string_view symbol;
  int exponent;
};

constexpr Prefix prefixes[] = {
    {"Q", 30}, {"R", 27},  {"Y", 24},  {"Z", 21},  {"E", 18},  {"P", 15},  {"T", 12},  {"G", 9},
    {"M", 6},  {"k", 3},   {"h", 2},   {"da", 1},  {"d", -1},  {"c", -2},  {"m", -3},  {"u", -6},
    {"n", -9}, {"p", -12}, {"f", -15}, {"a", -18}, {"z", -21}, {"y", -24}, {"r", -27}, {"q", -30},
};

// A word that people write instead of a symbol, and the hint that they get.
struct Advice {
  std::string_view word;
  std::string_view advice;
};

constexpr std::string_view celsius =
    "it has an offset (0 degC is 273.15 K) and is not a pure factor; store kelvin, and write 'K'";
constexpr std::string_view fahrenheit = "it has an offset and is not a pure factor; store kelvin, and write 'K'";

constexpr Advice advices[] = {
    {"degC", celsius},
    {"Celsius", celsius},
    {"celsius", celsius},
    {"degF", fahrenheit},
    {"degree", "write 'deg' for an angle, 'K' for a temperature"},
    {"degrees", "write 'deg' for an angle, 'K' for a temperature"},
    {"meter", "write 'm'"},
    {"meters", "write 'm'"},
    {"metre", "write 'm'"},
    {"metres", "write 'm'"},
    {"sec", "write 's'"},
    {"second", "write 's'"},
    {"seconds", "write 's'"},
    {"minute", "write 'min'"},
    {"minutes", "write 'min'"},
    {"hour", "write 'h'"},
    {"hours", "write 'h'"},
    {"hr", "write 'h'"},
    {"days", "write 'day'"},
    {"kelvin", "write 'K'"},
    {"Kelvin", "write 'K'"},
    {"Pascal", "write 'Pa'"},
    {"pascal", "write 'Pa'"},
    {"none", "write '1' for a variable without a unit"},
    {"dimensionless", "write '1' for a variable without a unit"},
};

constexpr std::string_view examples = "write it like m/s, kg m^-3, kPa, W m-2 or 1";

struct Spelling {
  std::string_view from, to;
};

// Non-ASCII characters on keyboards and in papers, and their replacements.
constexpr Spelling spellings[] = {
    {"\u00b5", "u"}, {"\u03bc", "u"},  {"\u03a9", "Ohm"}, {"\u2126", "Ohm"},   {"\u00b7", "*"},   {"\u22c5", "*"},
    {"\u2212", "-"}, {"\u00b2", "^2"}, {"\u00b3", "^3"},  {"\u00b0C", "degC"}, {"\u00b0", "deg"},
};

std::string in_ascii(std::string_view text) {
  std::string result(text);
  for (const Spelling& spelling : spellings) {
    for (size_t at = 0; (at = result.find(spelling.from, at)) != std::string::npos; at += spelling.to.size()) {
      result.replace(at, spelling.from.size(), spelling.to);
    }
  }
  return result;
}

const KnownUnit* find_unit(std::string_view symbol) {
  for (const KnownUnit& unit : known_units) {
    if (unit.symbol == symbol) return &unit;
  }
  return nullptr;
}

// Finds `symbol` with or without a prefix. A whole symbol takes precedence, so "min" and "cd" never have a prefix.
std::optional<KnownUnit> resolve(std::string_view symbol) {
  if (const KnownUnit* unit = find_unit(symbol)) return *unit;
  for (const Prefix& prefix : prefixes) {
    if (!symbol.starts_with(prefix.symbol)) continue;
    const KnownUnit* unit = find_unit(symbol.substr(prefix.symbol.size()));
    if (unit == nullptr || !unit->takes_prefix) continue;
    KnownUnit scaled = *unit;
    scaled.exponent += prefix.exponent;
    return scaled;
  }
  return std::nullopt;
}

std::string unknown(std::string_view symbol) {
  for (const Advice& advice : advices) {
    if (advice.word == symbol) return fmt::format("'{}' cannot be used: {}", symbol, advice.advice);
  }
  std::vector<std::string_view> candidates = {"kg", "km", "cm", "mm", "ms", "hPa", "kPa", "MPa", "kW", "mL"};
  for (const KnownUnit& unit : known_units) candidates.push_back(unit.symbol);
  const std::string nearest = nearest_word(symbol, candidates);
  if (!nearest.empty()) return fmt::format("'{}' is not a known unit; did you mean '{}'?", symbol, nearest);
  return fmt::format("'{}' is not a known unit; {}", symbol, examples);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '%'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads terms from left to right. `problem` is empty until an error; reading stops there.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  void run() {
    skip_spaces();
    if (at_end()) return fail(fmt::format("it is empty; {}", examples));
    term(+1);
    while (problem.empty() && separator()) term(divide_ ? -1 : +1);
  }

  std::string problem;
  double mantissa = 1;
  int exponent = 0;
  std::array<int, 7> powers{};

 private:
  bool at_end() const { return at_ == text_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_spaces() {
    while (peek() == ' ') ++at_;
  }
  void fail(std::string why) {
    if (problem.empty()) problem = std::move(why);
  }

  // Skips the separator between two terms. Returns false at the end of the text or after an error.
  bool separator() {
    skip_spaces();
    if (at_end()) return false;
    const char sign = peek();
    if (sign == '/') {
      divide_ = true;
    } else if (divide_) {
      // Half of the world reads "J/kg K" as J/(kg K); a wrong guess would put a wrong dimension into every file.
      fail("a product after '/' can be read in two ways; write negative powers, as in J kg^-1 K^-1, or J/kg/K");
    }
    if (sign == '/' || sign == '*' || sign == '.') ++at_;
    skip_spaces();
    if (at_end()) fail(fmt::format("it ends after '{}'", sign));
    return problem.empty();
  }

  void term(int sign) {
    const size_t begin = at_;
    if (is_digit(peek())) {
      while (is_digit(peek()) || peek() == '.') ++at_;
    } else {
      while (is_letter(peek())) ++at_;
    }
    const std::string_view symbol = text_.substr(begin, at_ - begin);
    if (symbol.empty()) return unreadable();
    if (is_digit(symbol[0]) && symbol != "1") {
      return fail(fmt::format("the number '{}' cannot stand in a unit; use a prefix, as in km, or '1'", symbol));
    }
    const std::optional<KnownUnit> unit = resolve(symbol);
    if (!unit) return fail(unknown(symbol));
    const int power = sign * read_power();
    if (!problem.empty()) return;
    mantissa *= std::pow(unit->mantissa, power);
    exponent += unit->exponent * power;
    for (size_t i = 0; i < powers.size(); ++i) powers[i] += unit->powers[i] * power;
  }

  void unreadable() {
    if (peek() == '(' || peek() == ')') {
      return fail("parentheses are not understood; write negative powers, as in J kg^-1 K^-1");
    }
    if (peek() == '/') return fail("'/' needs something before it; write 1/s");
    // Shows the whole rest: its first byte alone may be part of a longer character.
    fail(fmt::format("'{}' is not understood; {}", text_.substr(at_), examples));
  }

  // Reads the power after a symbol; 1 if there is none.
  int read_power() {
    bool marked = true;
    if (peek() == '^') {
      ++at_;
    } else if (peek() == '*' && peek(1) == '*') {
      at_ += 2;
    } else {
      marked = false;
    }
    const size_t begin = at_;
    int sign = 1;
    if (peek() == '-' || peek() == '+') {
      sign = peek() == '-' ? -1 : 1;
      ++at_;
    }
    const size_t digits = at_;
    int power = 0;
    while (is_digit(peek()) && power <= largest_power) power = power * 10 + (text_[at_++] - '0');
    if (at_ == digits) {
      if (marked || at_ != begin) fail("a power must be a whole number, as in m^2 or s^-1");
      return 1;
    }
    if (power > largest_power) fail(fmt::format("powers go up to {}", largest_power));
    if (peek() == '.' && is_digit(peek(1))) fail("a power must be a whole number, as in m^2 or s^-1");
    return sign * power;
  }

  const std::string_view text_;
  size_t at_ = 0;
  bool divide_ = false;  // a '/' has been seen
};

Status refuse(std::string problem) { return Status(TAILRACE_INVALID_CONFIG, std::move(problem)); }

}  // namespace

Result<Unit> parse_unit(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.size() > longest_text) return refuse(fmt::format("it is longer than {} bytes", longest_text));

  const std::string ascii = in_ascii(text);
  Parser parser(ascii);
  parser.run();
  if (!parser.problem.empty()) return refuse(std::move(parser.problem));

  Unit unit;
  unit.symbol = text;
  // Positive powers of ten are exact in a double up to 10^22, so it divides by them rather than multiply by 10^-n.
  const double ten = std::pow(10.0, std::abs(parser.exponent));
  unit.factor = parser.exponent < 0 ? parser.mantissa / ten : parser.mantissa * ten;
  if (!std::isnormal(unit.factor)) return refuse("its factor to SI units is too large or too small for a double");
  for (size_t i = 0; i < unit.dimension.size(); ++i) unit.dimension[i] = parser.powers[i];
  return unit;
}

}  // namespace tailrace::impl
