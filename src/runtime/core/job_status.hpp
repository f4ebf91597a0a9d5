// Reports the state of a node's jobs from outside: their servers and clients, which of them live, and what each has
// counted.
//
// It reads the runtime directory, and maps the counters of each client's segment read-only. It changes nothing and
// needs no answer, so it also shows a server that hangs, and the leftovers of a dead one. The counters are not a
// consistent snapshot.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"

namespace tailrace::impl {

// Returns a JSON document {"root": …, "jobs": [ … ]} of all jobs under `root`, or of `job` alone if it is not empty.
// A job without a directory is left out. With an `output` directory, also what jobs have left for it whose server
// died before a client had come. docs/watching.md has the members.
Result<std::string> job_status(const std::string& root, const std::string& job, const std::string& output);

// Returns the servers that a job has or had, sorted: those that left a file, and those of the remaining clients.
Result<std::vector<int>> servers_of(const std::string& root, const std::string& job);

}  // namespace tailrace::impl
