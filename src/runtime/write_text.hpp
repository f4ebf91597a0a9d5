// write_text: a small text file, whole or not at all: under a temporary name first.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace tailrace::impl {

// Replaces `path`. `what` is what the file is, for messages.
Status write_text(const std::string& path, std::string_view text, const char* what);

}  // namespace tailrace::impl
