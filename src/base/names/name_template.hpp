// Names with fields for numbers: "run_It{iteration}.h5", "T/P{client}".
#pragma once

#include <string>
#include <string_view>

namespace tailrace::impl {

inline constexpr std::string_view kIterationField = "{iteration}";
inline constexpr std::string_view kClientField = "{client}";
inline constexpr std::string_view kNodeField = "{node}";

inline bool has_client(std::string_view name) { return name.find(kClientField) != std::string_view::npos; }

// Returns the name with the number in place of the field, wherever that is.
inline std::string with_number(std::string_view name, std::string_view field, int number) {
  const std::string digits = std::to_string(number);
  std::string result(name);
  for (size_t at = result.find(field); at != std::string::npos; at = result.find(field, at + digits.size())) {
    result.replace(at, field.size(), digits);
  }
  return result;
}

}  // namespace tailrace::impl
