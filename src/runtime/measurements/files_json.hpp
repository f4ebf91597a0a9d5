// What has become of the requests about each file, as JSON: for reports and for whoever looks on.
#pragma once

#include <nlohmann/json.hpp>

#include "channel/file_log.hpp"

namespace tailrace::impl {

// One file; docs/formats/measurements.md has the members.
nlohmann::ordered_json file_json(const FileFigures& of);

}  // namespace tailrace::impl
