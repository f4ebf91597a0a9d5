// Which job a server is of, from the configuration that its clients will open with: for a server that is started by
// hand, before them.
#pragma once

#include "config/config_yaml.hpp"
#include "runtime/core/core_server.hpp"

namespace tailrace::impl {

// Sets `job` and `log_level` of `options`. Relative output directories are meant from this process's, as the
// clients' are from theirs. Fails if the configuration is wrong or of another place, or has no server of that number.
Status set_job(CoreServerOptions& options, const ConfigInput& input);

}  // namespace tailrace::impl
