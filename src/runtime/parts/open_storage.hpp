// open_storage: opens the back end that the configuration selects; for `auto`, the best one that works here.
// open_file_system opens only its names and files, for callers that make no transfers.
#pragma once

#include <memory>
#include <vector>

#include "base/log.hpp"
#include "base/sync/doorbell.hpp"
#include "model/config.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

// `doorbell` must outlive the storage. `cpus`: where the storage's own threads may run; empty: anywhere.
Result<std::unique_ptr<Storage>> open_storage(const Config& config, const std::vector<int>& cpus, Doorbell& doorbell,
                                              Log& log);

// The back end memory has an empty file system.
std::unique_ptr<FileSystem> open_file_system(Backend backend);

}  // namespace tailrace::impl
