#include "runtime/parts/filter_threads.hpp"

#include <unistd.h>

#include <algorithm>
#include <numeric>

namespace tailrace::impl {

FilterCrew::Options filter_threads(const Config& config, const std::vector<int>& bound) {
  FilterCrew::Options options;
  options.threads = static_cast<uint32_t>(config.place.filter_threads);
  options.cpus = bound;
  if (bound.empty() || options.threads == 1) return options;
  options.cpus = config.place.cpus;
  if (config.place.choice != CpuChoice::list) {
    // Named one by one, as the threads inherit where the server is bound.
    options.cpus.resize(static_cast<size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF))));
    std::iota(options.cpus.begin(), options.cpus.end(), 0);
  }
  return options;
}

}  // namespace tailrace::impl
