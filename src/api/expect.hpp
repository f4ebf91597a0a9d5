// Describes declared variables, and checks callers' expectations of them, in the terms of the C ABI.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "model/variable.hpp"

namespace tailrace::impl {

tailrace_variable_info describe_variable(const Layout& layout);

// Returns ok if type and shape are those of the variable's layout; else TAILRACE_WRONG_TYPE or TAILRACE_WRONG_SHAPE,
// with both sides in the message. Returns TAILRACE_INVALID_ARGUMENT if `type` is not a tailrace_type.
Status expect(const Variable& variable, const Layout& layout, int type, std::span<const uint64_t> shape);

}  // namespace tailrace::impl
