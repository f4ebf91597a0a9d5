// Globals: the global variables of a specification. Initialisations write them; expressions read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cube/cubepl/elements.hpp"
#include "cube/cubepl/value.hpp"

namespace tailrace::cube {

// Any thread may read while none writes.
class Globals {
 public:
  static constexpr size_t kMostIndices = size_t{1} << 28;   // of one variable
  static constexpr size_t kMostElements = size_t{1} << 26;  // that were set, of all variables

  // Returns the element of a variable; unset if it was never written. A text lives until the element is set again.
  Value get(uint32_t variable, size_t index) const {
    if (variable >= variables_.size()) return {};
    const Variable& one = variables_[variable];
    const double* const number = one.numbers.find(index);
    if (number == nullptr) return {};
    if (!one.texts.empty()) {
      const auto text = one.texts.find(index);
      if (text != one.texts.end()) return Value::of(std::string_view(text->second));
    }
    return Value::of(*number);
  }
  size_t size(uint32_t variable) const {
    return variable < variables_.size() ? variables_[variable].numbers.size() : 0;
  }
  // Returns false if there are too many elements. `value` is a number or a text, and `index` less than kMostIndices.
  [[nodiscard]] bool set(uint32_t variable, size_t index, const Value& value) {
    if (variable >= variables_.size()) variables_.resize(variable + 1);
    Variable& one = variables_[variable];
    if (one.numbers.set(index, value.number) && ++count_ > kMostElements) return false;
    if (value.is_text()) {
      one.texts[index] = std::string(value.text);
    } else if (!one.texts.empty()) {
      one.texts.erase(index);
    }
    return true;
  }

 private:
  struct Variable {
    Elements<double> numbers;
    std::unordered_map<size_t, std::string> texts;  // of the elements that are texts
  };
  std::vector<Variable> variables_;
  size_t count_ = 0;
};

}  // namespace tailrace::cube
