#include "damaris/xml/expression.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "damaris/xml/report.hpp"

namespace tailrace::damaris {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

int64_t combine(char operation, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflows = false;
  switch (operation) {
    case '+': overflows = __builtin_add_overflow(a, b, &result); break;
    case '-': overflows = __builtin_sub_overflow(a, b, &result); break;
    case '*': overflows = __builtin_mul_overflow(a, b, &result); break;
    default:
      if (b == 0) throw ExpressionError("a division by zero");
      overflows = a == std::numeric_limits<int64_t>::min() && b == -1;
      if (!overflows) result = operation == '/' ? a / b : a % b;
  }
  if (overflows) throw ExpressionError("a value of more than 64 bits");
  return result;
}

}  // namespace

// Reads sums of products of factors, by descent.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, Expression& to) : text_(text), to_(to) {}

  void read() {
    read_sum(0);
    skip_space();
    if (at_ < text_.size()) refuse();
  }

 private:
  void read_sum(int depth) {
    read_chain(depth, "+-", [this](int deeper) { read_product(deeper); });
  }
  void read_product(int depth) {
    read_chain(depth, "*/%", [this](int deeper) { read_factor(deeper); });
  }

  template <class Read>
  void read_chain(int depth, std::string_view operations, const Read& read_operand) {
    read_operand(depth);
    for (skip_space(); at_ < text_.size() && operations.find(text_[at_]) != std::string_view::npos; skip_space()) {
      const char operation = text_[at_++];
      read_operand(depth);
      to_.steps_.push_back({Expression::Step::Kind::combine, 0, operation});
    }
  }

  void read_factor(int depth) {
    if (depth > Expression::kMostDepth) throw ExpressionError("too many parentheses");
    skip_space();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '(') {
      ++at_;
      read_sum(depth + 1);
      skip_space();
      if (at_ >= text_.size() || text_[at_] != ')') refuse();
      ++at_;
    } else if (c == '-' || c == '+') {
      ++at_;
      push({Expression::Step::Kind::number, 0, 0});
      read_factor(depth + 1);
      to_.steps_.push_back({Expression::Step::Kind::combine, 0, c});
    } else if (is_digit(c)) {
      read_number();
    } else if (begins_name(c)) {
      read_name();
    } else {
      refuse();
    }
  }

  void read_number() {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc{}) throw ExpressionError("a number of more than 64 bits");
    at_ = static_cast<size_t>(end - text_.data());
    push({Expression::Step::Kind::number, number, 0});
  }

  void read_name() {
    const size_t begin = at_;
    while (at_ < text_.size() && (begins_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    std::string name(text_.substr(begin, at_ - begin));
    const auto found = std::find(to_.names_.begin(), to_.names_.end(), name);
    push({Expression::Step::Kind::name, found - to_.names_.begin(), 0});
    if (found == to_.names_.end()) to_.names_.push_back(std::move(name));
  }

  void push(Expression::Step step) { to_.steps_.push_back(step); }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  [[noreturn]] void refuse() const {
    if (at_ >= text_.size()) throw ExpressionError(in_quotes(text_) + ", which ends too early");
    throw ExpressionError(in_quotes(text_) + ", where " + in_quotes(text_.substr(at_, 1)) + " does not fit");
  }

  const std::string_view text_;
  Expression& to_;
  size_t at_ = 0;
};

Expression::Expression(std::string_view text) { ExpressionParser(text, *this).read(); }

int64_t Expression::value(const Lookup& lookup) const {
  std::vector<int64_t> stack;
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::number) {
      stack.push_back(step.number);
    } else if (step.kind == Step::Kind::name) {
      const std::string& name = names_[static_cast<size_t>(step.number)];
      const std::optional<int64_t> value = lookup(name);
      if (!value) throw ExpressionError("the name " + in_quotes(name) + ", which is not an integer parameter");
      stack.push_back(*value);
    } else {
      const int64_t right = stack.back();
      stack.pop_back();
      stack.back() = combine(step.operation, stack.back(), right);
    }
  }
  return stack.back();
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i < text.size() && (text[i] != separator || depth > 0)) continue;
    std::string_view part = text.substr(begin, i - begin);
    while (!part.empty() && is_space(part.front())) part.remove_prefix(1);
    while (!part.empty() && is_space(part.back())) part.remove_suffix(1);
    parts.emplace_back(part);
    begin = i + 1;
  }
  return parts;
}

}  // namespace tailrace::damaris
