#include "runtime/parts/filter_threads.hpp"

#include <unistd.h>

#include <algorithm>
#include <numeric>

namespace tailrace::impl {

FilterCrew::Options filter_threads(const PlaceSettings& place, const std::vector<int>& bound) {
  FilterCrew::Options options;
  options.threads = static_cast<uint32_t>(place.filter_threads);
  options.cpus = bound;
  if (bound.empty() || options.threads == 1) return options;
  options.cpus = place.cpus;
  if (place.choice != CpuChoice::list) {
    // Name the cpus one by one, since the threads would inherit the server's binding.
    options.cpus.resize(static_cast<size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF))));
    std::iota(options.cpus.begin(), options.cpus.end(), 0);
  }
  return options;
}

}  // namespace tailrace::impl
