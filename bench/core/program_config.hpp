// Pieces of the configurations that the measurements give to tailrace.
#pragma once

#include <cstdint>
#include <string>

namespace bench::core {

// The text as YAML has it between quotes.
std::string quoted(const std::string& text);

// Returns true if files in this directory can bypass the page cache. Throws RunError if nothing can be written there.
bool can_bypass_cache(const std::string& directory);

// `storage:` with this directory: past the page cache, or, where that cannot be, synced before publication. `more`
// are further keys, each beginning with a comma.
std::string storage(const std::string& directory, const std::string& more = {});

}  // namespace bench::core
