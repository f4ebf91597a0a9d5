// open_storage: opens the back end that the configuration selects; for `auto`, the best one that works here.
// open_file_system opens only its names and files, for callers that make no transfers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sync/cpu_group.hpp"
#include "base/sync/doorbell.hpp"
#include "model/config/config.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

// `clock`, `doorbell` and `log` must outlive the storage. `cpus`: where the storage's own threads may run; empty:
// anywhere.
Result<std::unique_ptr<Storage>> open_storage(const Config& config, const std::shared_ptr<CpuGroup>& cpus,
                                              const Clock& clock, Doorbell& doorbell, Log& log);
// Opens it without forwarders. `roots`: absolute paths of directories; nothing outside them can be opened then.
Result<std::unique_ptr<Storage>> open_local(const Config& config, const std::shared_ptr<CpuGroup>& cpus,
                                            Doorbell& doorbell, Log& log, const std::vector<std::string>& roots = {});

// It also treats files that a run has striped, wherever their heads say that their objects are. The back end memory
// has an empty file system.
std::unique_ptr<FileSystem> open_file_system(Backend backend);

}  // namespace tailrace::impl
