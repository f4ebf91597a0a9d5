// write_trace: writes the events of a session with their times, for a browser (Perfetto, chrome://tracing) and for
// `tailrace plot`.
//
// The format is Chrome's trace events as JSON; docs/formats/measurements.md has the events.
#pragma once

#include "runtime/session.hpp"

namespace tailrace::impl {

// Writes `<first path>/<name>_c<client>.trace.json`. Call it on the client's thread, after the place has stopped.
Status write_trace(Session& session);

}  // namespace tailrace::impl
