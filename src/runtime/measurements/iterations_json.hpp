// The server's costs of the latest iterations, as JSON: for reports and for `tailrace inspect`.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "channel/iteration_log.hpp"

namespace tailrace::impl {

// A list, oldest first; docs/formats/measurements.md has the members.
nlohmann::ordered_json iterations_json(const std::vector<IterationFigures>& iterations);

}  // namespace tailrace::impl
