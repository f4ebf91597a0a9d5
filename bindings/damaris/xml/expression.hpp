// Expression: integer arithmetic over parameters, as layouts have it: "WIDTH/size", "2*(n+1)". Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::damaris {

// Says why a text is no expression, or why it has no value.
class ExpressionError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Expression {
 public:
  // Returns the present value of a parameter; none if there is no integer of this name.
  using Lookup = std::function<std::optional<int64_t>(const std::string&)>;

  static constexpr int kMostDepth = 64;  // of parentheses and signs

  // Integers, names, + - * / % and parentheses; * / % bind more than + -. Throws ExpressionError.
  explicit Expression(std::string_view text);
  explicit Expression(int64_t value) : steps_{{Step::Kind::number, value, 0}} {}

  // Throws ExpressionError: no such parameter, a division by zero, a value beyond 64 bits.
  int64_t value(const Lookup& lookup) const;

  // Returns the names of the parameters, each once.
  const std::vector<std::string>& names() const { return names_; }

 private:
  friend class ExpressionParser;

  // A step on a stack of numbers: push one, or combine the two on top.
  struct Step {
    enum class Kind : uint8_t { number, name, combine };
    Kind kind;
    int64_t number = 0;  // or the index of a name
    char operation = 0;
  };

  std::vector<Step> steps_;
  std::vector<std::string> names_;
};

// Cuts "a, b(1,2), c" at the commas outside parentheses, and removes white space around the parts.
std::vector<std::string> split_list(std::string_view text, char separator);

}  // namespace tailrace::damaris
