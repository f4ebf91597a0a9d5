// clean_text: what foreign code says, as a text that files, terminals and Python can take.
#pragma once

#include <string>
#include <string_view>

namespace tailrace::impl {

// `text` with '?' for each byte that is not UTF-8 and each control character but line ends and tabs.
std::string clean_text(std::string_view text);

}  // namespace tailrace::impl
