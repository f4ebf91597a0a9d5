// open_storage: the back end that the configuration asks for, or for `auto` the best one that works here; and its
// names and files alone, for who makes no transfers.
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

// For the back end memory the file system is empty.
std::unique_ptr<FileSystem> open_file_system(Backend backend);

}  // namespace tailrace::impl
