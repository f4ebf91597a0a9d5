// The jobs of place core on this node, as job_status reports them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

// Returns all jobs of this user on this node, living and dead: a list with the members that docs/watching.md
// describes.
Result<nlohmann::json> all_jobs();
// Returns those that write to `directory`, also those whose servers died before a client had come.
Result<nlohmann::json> jobs_of(const std::string& directory);

// Prints one job: how busy its servers are, and what waits. The numbers come from the job's shared memory, each read
// by itself, so they may differ by a few blocks.
void show_job(const nlohmann::json& job);

}  // namespace tailrace::impl
