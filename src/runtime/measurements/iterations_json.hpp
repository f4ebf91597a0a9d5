// The latest iterations' costs for the server, as JSON: for reports and `tailrace inspect`.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "channel/iteration_log.hpp"

namespace tailrace::impl {

// Returns a list, oldest first; docs/formats/measurements.md has the members.
nlohmann::ordered_json iterations_json(const std::vector<IterationFigures>& iterations);

}  // namespace tailrace::impl
