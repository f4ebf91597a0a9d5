// Finds the job of a server from the configuration that its clients will open with. For a server that is started by
// hand, before its clients.
#pragma once

#include "config/config_yaml.hpp"
#include "runtime/core/core_server.hpp"

namespace tailrace::impl {

// Sets `job` and `log_level` of `options`. Relative output directories start at this process's working directory, as
// its clients' do at theirs. Fails if the configuration is wrong or of another place, or has no server of that
// number.
Status set_job(CoreServerOptions& options, const ConfigInput& input);

}  // namespace tailrace::impl
