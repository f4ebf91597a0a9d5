// Makes an attribute's value of what a C program passes: a type, a count and an address.
#pragma once

#include <cstddef>

#include "base/status.hpp"
#include "model/attribute.hpp"

namespace tailrace::impl {

// `type` is a tailrace_type; see tailrace_attribute. Fails with TAILRACE_INVALID_ARGUMENT.
Result<AttributeValue> attribute_value(int type, size_t count, const void* data);

}  // namespace tailrace::impl
