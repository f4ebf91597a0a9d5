// What the jobs of a node look like from outside: their servers and clients, who lives, and what each has counted.
//
// Reads the runtime directory, and of each client's segment the counters, which it maps read-only. Changes nothing
// and needs nobody to answer, so it shows a server that hangs, and what a dead one left. Each number stands by
// itself.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"

namespace tailrace::impl {

// A JSON document: {"root": …, "jobs": [ … ]}, of all jobs under `root`, or of `job` alone if it is not empty. A job
// that is not there is none. docs/place-core.md has the members.
Result<std::string> job_status(const std::string& root, const std::string& job);

// The servers that a job has or had, sorted: those that left a file, and those of the clients that are left.
Result<std::vector<int>> servers_of(const std::string& root, const std::string& job);

}  // namespace tailrace::impl
