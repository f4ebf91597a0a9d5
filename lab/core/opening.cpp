#include "lab/core/opening.hpp"

#include <optional>
#include <tailrace/tailrace.hpp>
#include <vector>

#include "lab/core/cpus.hpp"
#include "lab/core/field.hpp"
#include "lab/core/program_config.hpp"
#include "lab/pattern/clock.hpp"
#include "lab/pattern/json.hpp"
#include "lab/pattern/memory.hpp"

namespace bench::core {
namespace {

std::string config_of(const OpeningOptions& options) {
  return "tailrace: 1\nname: opening\nplace: {kind: " + std::string(name_of(options.way)) +
         "}\nmemory: {budget: " + std::to_string(options.budget) + "}\n" + storage(options.dir) +
         "layouts:\n  field: {type: float32, shape: [" + std::to_string(options.bytes / sizeof(float)) +
         "]}\nvariables:\n  field: {layout: field}\n";
}

void compute(double seconds) {
  const double end = now() + seconds;
  while (now() < end) {
  }
}

}  // namespace

std::string opening(const OpeningOptions& options) {
  if (options.way == WayKind::core) leave_last_cpu();
  const Buffer buffer(options.bytes);
  const std::span<float> field(reinterpret_cast<float*>(buffer.data()), options.bytes / sizeof(float));
  fill(field, 0);
  const tailrace::Options how{.text = config_of(options)};
  std::optional<tailrace::Client> earlier;
  if (options.beside) earlier.emplace(tailrace::open("core_bench", 1, how));
  const double start = now();
  tailrace::Client client = tailrace::open("core_bench", 0, how);
  const double opened = now() - start;
  std::vector<double> handovers;
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    compute(options.compute);
    mark(field, 0, iteration);
    const double before = now();
    client.write("field", iteration, std::span<const float>(field));
    handovers.push_back(now() - before);
    client.end_iteration(iteration);
    client.flush();
  }
  const std::string description = client.describe();
  client.close();
  if (earlier) earlier->close();
  return text_of({{"core_open", 1}, {"open", opened}, {"handovers", handovers}, {"description", description}});
}

}  // namespace bench::core
