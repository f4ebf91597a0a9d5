// The state of the jobs of a node as seen from outside: their servers and clients, who lives, and what each has
// counted.
//
// Reads the runtime directory, and maps the counters of each client's segment read-only. Changes nothing and needs no
// answer, so it shows a server that hangs, and the leftovers of a dead one. Each number stands by itself.
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
