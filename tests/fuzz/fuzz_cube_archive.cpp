// Any bytes as a Cube profile: an error, or values of every metric, exclusive and inclusive.
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cube/archive/error.hpp"
#include "cube/remap/metric_values.hpp"
#include "tests/fuzz/target.hpp"

namespace {

namespace cube = tailrace::cube;

void read_all(const std::string& path) {
  const cube::Input input(path);
  const size_t values = input.profile.tree.size() * input.profile.locations.size();
  if (values > 100'000) return;
  const cube::MetricSet set(input, input.profile.metrics, path, [](const std::string&) {});
  cube::MetricValues calculated(set);
  std::vector<double> row(input.profile.locations.size());
  for (size_t metric = 0; metric < input.profile.metrics.size(); ++metric) {
    if (!input.rows[metric] || !input.rows[metric]->type().number) continue;
    for (uint32_t call_path = 0; call_path < input.profile.tree.size(); ++call_path) {
      calculated.row(metric, cube::Flavour::exclusive, call_path, row);
      calculated.row(metric, cube::Flavour::inclusive, call_path, row);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int file = memfd_create("profile", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) return 0;
  try {
    read_all("/proc/self/fd/" + std::to_string(file));
  } catch (const cube::Error&) {
  }
  close(file);
  return 0;
}
