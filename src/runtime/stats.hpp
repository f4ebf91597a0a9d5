// gather_stats: the counters of both halves of a session, as the C ABI reports them: for the whole session, for one
// variable, or for a raw file.
#pragma once

#include <tailrace/tailrace.h>

#include <optional>
#include <string_view>

#include "runtime/session.hpp"

namespace tailrace::impl {

// Call these on the client's thread.
tailrace_stats gather_stats(Session& session);
tailrace_variable_stats gather_stats(Session& session, uint32_t variable);
// `path` is in its plain form; empty: the files of iterations. Returns nothing if there is no such file.
std::optional<tailrace_file_stats> gather_file_stats(Session& session, std::string_view path);

tailrace_times times_of(const Histogram& of);

}  // namespace tailrace::impl
