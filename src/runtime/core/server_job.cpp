#include "runtime/core/server_job.hpp"

#include <fmt/format.h>

#include "place/core/runtime_directory.hpp"

namespace tailrace::impl {

Status set_job(CoreServerOptions& options, const ConfigInput& input) {
  const Result<Config> config = read_config(input);
  if (!config.ok()) return config.status();
  const Config& of = config.value();
  if (of.place.kind != PlaceKind::core) {
    return Status(TAILRACE_INVALID_CONFIG,
                  fmt::format("{}: place.kind: found thread, expected core: only that has a server", of.source));
  }
  if (options.server >= of.place.cores) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("the server's number: found {}, expected less than {} (place.cores in {})",
                              options.server, of.place.cores, of.source));
  }
  options.job = RuntimeDirectory::job_name(of.name, of.storage.paths[0]);
  options.log_level = of.log.level;
  return {};
}

}  // namespace tailrace::impl
