// Pieces of the configurations for tailrace in the measurements.
#pragma once

#include <cstdint>
#include <string>

namespace bench::core {

// Returns the text as YAML has it between quotes.
std::string quoted(const std::string& text);

// Returns true if files in this directory can bypass the page cache. Throws RunError if the directory is not
// writable.
bool can_bypass_cache(const std::string& directory);

// Returns `storage:` with this directory: bypassing the page cache or, if that is not possible, synced before
// publication. `more` are further keys, each beginning with a comma.
std::string storage(const std::string& directory, const std::string& more = {});

}  // namespace bench::core
