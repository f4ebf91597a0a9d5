// Words: settings in one line of text, such as an environment variable.
#pragma once

#include <string>
#include <vector>

namespace tailrace::process {

// Divides the text at blanks. In a word, %XX stands for the byte with this hexadecimal number: %20 for a blank in a
// path, %25 for a percent sign. Returns what is wrong with the text; "" if nothing is.
std::string split_words(const std::string& text, std::vector<std::string>& words);

}  // namespace tailrace::process
