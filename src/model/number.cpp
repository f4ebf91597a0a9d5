#include "model/number.hpp"

#include <fmt/format.h>

namespace tailrace::impl {

std::string text_of(const Number& number) {
  return number.is_real() ? fmt::format("{}", number.real()) : std::to_string(number.whole());
}

}  // namespace tailrace::impl
