// write_report: writes all counters and histograms of a session, as JSON (docs/formats/measurements.md).
#pragma once

#include "runtime/session.hpp"

namespace tailrace::impl {

// Writes `<first path>/<name>_c<client>.stats.json`. Call it on the client's thread, when everything has ended.
Status write_report(Session& session);

}  // namespace tailrace::impl
