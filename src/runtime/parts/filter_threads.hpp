// filter_threads: the number and the cpus of the threads that filter chunks, by the configuration.
#pragma once

#include <vector>

#include "model/config.hpp"
#include "server/filtering/filter_crew.hpp"

namespace tailrace::impl {

// `bound`: the cpus that the server's thread keeps to; empty: any. A single filter thread shares them: it works while
// the server waits. More of them would only take turns there, so they get the cpus of `place.cpus`, or any.
FilterCrew::Options filter_threads(const Config& config, const std::vector<int>& bound);

}  // namespace tailrace::impl
