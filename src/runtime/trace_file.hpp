// write_trace: what happened when, for a browser (Perfetto, chrome://tracing) and for `tailrace plot`.
//
// The format is Chrome's trace events as JSON; docs/formats/measurements.md has the events.
#pragma once

#include "runtime/session.hpp"

namespace tailrace::impl {

// Writes `<first path>/<name>_c<client>.trace.json`. The client's thread, after the place has stopped.
Status write_trace(Session& session);

}  // namespace tailrace::impl
