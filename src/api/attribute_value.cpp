#include "api/attribute_value.hpp"

#include <fmt/format.h>
#include <tailrace/tailrace.h>

#include <string>
#include <utility>

namespace tailrace::impl {
namespace {

template <class Stored>
AttributeValue one_or_all(std::vector<Stored> values) {
  if (values.size() == 1) return std::move(values.front());
  return values;
}

template <class Stored, class Given>
AttributeValue numbers(size_t count, const void* data) {
  const auto* const given = static_cast<const Given*>(data);
  std::vector<Stored> values;
  for (size_t i = 0; i < count; ++i) values.push_back(static_cast<Stored>(given[i]));
  return one_or_all(std::move(values));
}

Result<AttributeValue> texts(size_t count, const void* data) {
  const auto* const given = static_cast<const char* const*>(data);
  std::vector<std::string> values;
  for (size_t i = 0; i < count; ++i) {
    if (given[i] == nullptr) return Status(TAILRACE_INVALID_ARGUMENT, "found NULL, expected a text of an attribute");
    values.emplace_back(given[i]);
  }
  return one_or_all(std::move(values));
}

}  // namespace

Result<AttributeValue> attribute_value(int type, size_t count, const void* data) {
  if (count == 0 || count > kMostAttributeBytes) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("found an attribute of {} elements, expected 1 to {}", count, kMostAttributeBytes));
  }
  switch (type) {
    case TAILRACE_INT8: return numbers<int64_t, int8_t>(count, data);
    case TAILRACE_INT16: return numbers<int64_t, int16_t>(count, data);
    case TAILRACE_INT32: return numbers<int64_t, int32_t>(count, data);
    case TAILRACE_INT64: return numbers<int64_t, int64_t>(count, data);
    case TAILRACE_UINT8: return numbers<int64_t, uint8_t>(count, data);
    case TAILRACE_UINT16: return numbers<int64_t, uint16_t>(count, data);
    case TAILRACE_UINT32: return numbers<int64_t, uint32_t>(count, data);
    case TAILRACE_FLOAT32: return numbers<double, float>(count, data);
    case TAILRACE_FLOAT64: return numbers<double, double>(count, data);
    case TAILRACE_TEXT: return texts(count, data);
    default: break;
  }
  return Status(TAILRACE_INVALID_ARGUMENT,
                fmt::format("found an attribute of type {}, expected an integer of at most "
                            "64 bits (not uint64), float32, float64 or TAILRACE_TEXT",
                            type));
}

}  // namespace tailrace::impl
