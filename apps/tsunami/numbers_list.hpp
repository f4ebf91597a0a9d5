// Parses lists of numbers in the form of the command line ("16,14,104"), and converts numbers to text.
//
// Used by all code that reads an option with several values or prints one. Gives the numbers no meaning.
#pragma once

#include <string>
#include <vector>

namespace tsunami {

// Returns exactly `count` numbers separated by commas. Throws Error: "OPTION: found …, expected FORM".
std::vector<double> parse_numbers(const std::string& text, std::size_t count, const std::string& option,
                                  const std::string& form);

// Splits the text at commas, and keeps empty parts: "a,,b" has three parts.
std::vector<std::string> split_at_commas(const std::string& text);

// Returns the shortest text that reads back as `value`, for JSON, YAML and messages. Finite values only.
std::string shortest(double value);

}  // namespace tsunami
