// open_storage: the back end that the configuration asks for, or for `auto` the best one that works here.
#pragma once

#include <memory>
#include <vector>

#include "base/log.hpp"
#include "base/sync/doorbell.hpp"
#include "model/config.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

// `doorbell` outlives the storage. `cpus` is where the storage's own threads may run; empty: anywhere.
Result<std::unique_ptr<Storage>> open_storage(const Config& config, const std::vector<int>& cpus, Doorbell& doorbell,
                                              Log& log);

}  // namespace tailrace::impl
