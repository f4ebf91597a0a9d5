// gather_stats: the counters of both halves of a session, as the C ABI gives them.
#pragma once

#include <tailrace/tailrace.h>

#include "runtime/session.hpp"

namespace tailrace::impl {

// The client's thread.
tailrace_stats gather_stats(Session& session);

}  // namespace tailrace::impl
