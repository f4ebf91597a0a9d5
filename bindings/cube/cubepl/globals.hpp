// Globals: the global variables of a specification. Initialisations write them; expressions read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cube/cubepl/value.hpp"

namespace tailrace::cube {

// Any thread may read while none writes.
class Globals {
 public:
  static constexpr size_t kMostElements = size_t{1} << 28;  // of one variable

  // Returns the element of a variable; unset if it was never written.
  Value get(uint32_t variable, size_t index) const {
    if (variable >= variables_.size()) return {};
    const Variable& one = variables_[variable];
    if (!one.texts.empty()) {
      const auto text = one.texts.find(index);
      if (text != one.texts.end()) return Value::of(std::string_view(text->second));
    }
    return index < one.numbers.size() ? Value::of(one.numbers[index]) : Value();
  }
  size_t size(uint32_t variable) const {
    return variable < variables_.size() ? variables_[variable].numbers.size() : 0;
  }
  // `value` is a number or a text, and `index` less than kMostElements. Elements before it become 0.
  void set(uint32_t variable, size_t index, const Value& value) {
    if (variable >= variables_.size()) variables_.resize(variable + 1);
    Variable& one = variables_[variable];
    if (index >= one.numbers.size()) one.numbers.resize(index + 1);
    if (value.is_text()) {
      one.texts[index] = std::string(value.text);
    } else {
      one.numbers[index] = value.number;
      if (!one.texts.empty()) one.texts.erase(index);
    }
  }

 private:
  struct Variable {
    std::vector<double> numbers;
    std::unordered_map<size_t, std::string> texts;  // of the elements that are texts
  };
  std::vector<Variable> variables_;
};

}  // namespace tailrace::cube
