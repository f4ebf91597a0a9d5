// gather_stats: the counters of both halves of a session, as the C ABI gives them; of all of it, or of one variable.
#pragma once

#include <tailrace/tailrace.h>

#include "runtime/session.hpp"

namespace tailrace::impl {

// The client's thread.
tailrace_stats gather_stats(Session& session);
tailrace_variable_stats gather_stats(Session& session, uint32_t variable);

}  // namespace tailrace::impl
