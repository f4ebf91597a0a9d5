// Attribute: a named value that belongs to a file, to an iteration or to a variable, beside the arrays. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.hpp"

namespace tailrace::impl {

using AttributeValue =
    std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;

using Attribute = std::pair<std::string, AttributeValue>;

// Objects that have attributes.
enum class AttributeOf { file, iteration, variable };

inline constexpr size_t kMostAttributeName = 200;    // bytes
inline constexpr size_t kMostAttributeBytes = 8192;  // of name and value together, as attribute_wire has them
inline constexpr size_t kMostTextTable = 65536;      // bytes of a list of texts in the file

// Attributes of the iteration that end_iteration sets: float64.
inline constexpr const char* kTimeAttribute = "time";
inline constexpr const char* kStepAttribute = "dt";

// Returns ok if the program may set an attribute of that name. Fails with TAILRACE_INVALID_ARGUMENT for a name that
// is empty, too long, no UTF-8, or has control characters or '/', and for one that tailrace writes itself.
Status check_attribute_name(AttributeOf of, std::string_view name);
// Returns ok if the value can be stored: it has elements, texts have no NUL bytes, and a list of them is no larger
// than kMostTextTable.
Status check_attribute_value(const AttributeValue& value);

// Compares values by their bits, as they are written.
bool same_bits(const AttributeValue& a, const AttributeValue& b);

// Returns the value for messages, shortened: "3.5", "'abc'", "[1, 2, …]".
std::string text_of(const AttributeValue& value);

}  // namespace tailrace::impl
