// gather_stats: the counters of both halves of a session, as the C ABI gives them; of all of it, of one variable, or
// of a raw file.
#pragma once

#include <tailrace/tailrace.h>

#include <optional>
#include <string_view>

#include "runtime/session.hpp"

namespace tailrace::impl {

// The client's thread.
tailrace_stats gather_stats(Session& session);
tailrace_variable_stats gather_stats(Session& session, uint32_t variable);
// `path` in its plain form; empty: of the files of iterations. Nothing if there is no such file.
std::optional<tailrace_file_stats> gather_file_stats(Session& session, std::string_view path);

tailrace_times times_of(const Histogram& of);

}  // namespace tailrace::impl
