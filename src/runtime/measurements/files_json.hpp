// The engine's counts of the requests for each file, as JSON: for reports and `tailrace inspect`.
#pragma once

#include <nlohmann/json.hpp>

#include "channel/file_log.hpp"

namespace tailrace::impl {

// Returns one file; docs/formats/measurements.md has the members.
nlohmann::ordered_json file_json(const FileFigures& of);

}  // namespace tailrace::impl
