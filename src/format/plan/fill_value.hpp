// The value of elements that were not written: the variable's fill_value, else NaN. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/variable.hpp"

namespace tailrace::impl {

// Returns true if an element of the type can have a value of this kind: integers are never real.
bool can_be(ElementType type, const Number& value);

// Returns the bytes of an element of the type with this value. Requires can_be().
std::vector<std::byte> element_of(ElementType type, const Number& value);

// Returns the value of elements that a missing client has left: fill_value, else NaN; none for a type without NaN.
std::optional<Number> value_of_holes(const Variable& variable, ElementType type);

}  // namespace tailrace::impl
