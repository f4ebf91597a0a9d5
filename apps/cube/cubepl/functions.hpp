// Functions of CubePL on single values, and its conversions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cube/cubepl/names.hpp"

namespace tailrace::cube {

// Returns the value of a function of one number.
double function_value(Function function, double operand);
// Returns a number from 0 to 1, which is the same for the same arguments.
double random_number(uint64_t seed, uint64_t stream);

// Returns the decimal number at the begin of a text; 0 if there is none.
double number_in(std::string_view text);
// Returns the number with at most 14 digits.
std::string text_of_number(double number);

// ASCII letters.
std::string lowercase(std::string_view text);
std::string uppercase(std::string_view text);
bool same_in_any_case(std::string_view left, std::string_view right);

}  // namespace tailrace::cube
