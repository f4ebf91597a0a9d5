// Handles files that an earlier run left where a series is about to be written, by `storage.existing`.
//
// It looks once, when a run begins and holds the lock of the series; never while the series is being written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/log.hpp"
#include "base/status.hpp"
#include "model/config/config.hpp"
#include "model/wire/core_wire.hpp"
#include "runtime/output/complete_joint.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Treats the files of the client's series in the output directories. refuse: returns TAILRACE_EXISTS if there are
// any. replace: removes them. continue: keeps them, but publishes unfinished ones if they are whole and removes them
// otherwise. Logs what it does. Does nothing without variables. `files`: the storage's.
Status make_way(const Config& config, FileSystem& files, int client, Log& log,
                const CompleteJoint& complete = complete_joint);

// Returns the iteration with the largest number that earlier runs have published, and its time in the unit of this
// run; none if there is none, or if this run has begun without their files.
Result<LastIteration> last_iteration(const Config& config, FileSystem& files, int client);

}  // namespace tailrace::impl
