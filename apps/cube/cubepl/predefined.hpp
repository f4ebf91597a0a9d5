// The values of CubePL's predefined variables, which come from a profile.
#pragma once

#include <cstddef>
#include <string>

#include "cube/cubepl/evaluator.hpp"
#include "cube/cubepl/names.hpp"
#include "cube/cubepl/value.hpp"
#include "cube/profile/profile.hpp"

namespace tailrace::cube {

// The profile and the metrics that variables describe. Ids are numbers: places in the anchor.
struct PredefinedSource {
  const Profile& profile;
  const std::vector<Metric>& metrics;  // of the specification
  const std::string& file;
};

// Returns the value for a place, or element `index` of an array; unset if there is none. If it differs between the
// locations of the place, returns a row in `memory`; unset if it is a text.
Value predefined_value(const PredefinedSource& source, const Predefined& variable, size_t index, const Place& place,
                       double* memory);

// Returns a property of a metric, as cube::metric::get does; "" for one that does not exist.
std::string metric_property(const Metric& metric, const std::string& property);

// Returns how many elements the variable has.
size_t predefined_size(const PredefinedSource& source, const Predefined& variable);

}  // namespace tailrace::cube
