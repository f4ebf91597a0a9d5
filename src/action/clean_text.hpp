// clean_text: makes output of foreign code safe for files, terminals and Python.
#pragma once

#include <string>
#include <string_view>

namespace tailrace::impl {

// Returns `text` with '?' for each byte that is not UTF-8 and each control character except line ends and tabs.
std::string clean_text(std::string_view text);

}  // namespace tailrace::impl
