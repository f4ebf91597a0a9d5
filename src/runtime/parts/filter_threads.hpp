// filter_threads: the number and the cpus of the threads that filter chunks, from the configuration.
#pragma once

#include <vector>

#include "model/config/settings.hpp"
#include "server/filtering/filter_crew.hpp"

namespace tailrace::impl {

// `bound`: the cpus that the server's thread runs on; empty: any. A single filter thread shares them: it works while
// the server waits. Several would only take turns there, so they get the cpus of `place.cpus`, or any.
FilterCrew::Options filter_threads(const PlaceSettings& place, const std::vector<int>& bound);

}  // namespace tailrace::impl
