// Descriptions of declared variables, and checks of what callers expect of them, in the terms of the C ABI.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <span>

#include "base/status.hpp"
#include "model/config.hpp"

namespace tailrace::impl {

tailrace_variable_info describe_variable(const Layout& layout);

// TAILRACE_WRONG_TYPE or TAILRACE_WRONG_SHAPE, naming both sides, unless type and shape are those of the variable's
// layout. `type` should be a tailrace_type: TAILRACE_INVALID_ARGUMENT if it is none.
Status expect(const Variable& variable, const Layout& layout, int type, std::span<const uint64_t> shape);

}  // namespace tailrace::impl
