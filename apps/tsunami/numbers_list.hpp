// Lists of numbers as the command line has them ("16,14,104"), and numbers as text.
//
// Used by everything that reads an option with several values or prints one. Never knows what the numbers mean.
#pragma once

#include <string>
#include <vector>

namespace tsunami {

// Exactly `count` numbers separated by commas. Throws Error: "OPTION: found …, expected FORM".
std::vector<double> parse_numbers(const std::string& text, std::size_t count, const std::string& option,
                                  const std::string& form);

// The text at commas, with nothing left out: "a,,b" has three parts.
std::vector<std::string> split_at_commas(const std::string& text);

// The shortest text that reads back as `value`, for JSON, YAML and messages. Finite values only.
std::string shortest(double value);

}  // namespace tsunami
