// write_report: all counters and histograms of a session, as JSON (docs/formats/measurements.md).
#pragma once

#include "runtime/session.hpp"

namespace tailrace::impl {

// Writes `<first path>/<name>_c<client>.stats.json`. The client's thread, when everything has ended.
Status write_report(Session& session);

}  // namespace tailrace::impl
