// The JSON Schema of configurations, python/tailrace/schema.json, which CMake puts into the program.
#pragma once

#include <string_view>

namespace tailrace::impl {

extern const std::string_view kConfigSchema;

}  // namespace tailrace::impl
