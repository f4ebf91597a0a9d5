// The line of a file that a message is about, with a mark under the place, as compilers show it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tailrace::impl {

// Returns the lines to print: line `line` of `text` (a long one only around the place), a caret below `column`, which
// counts bytes, both from 1, and the hint, if it is not empty. A line that the text does not have is left out.
std::vector<std::string> source_excerpt(std::string_view text, int line, int column, std::string_view hint);

}  // namespace tailrace::impl
