// Key files: text files with one ForwardKey, which only their owner may read. docs/formats/key.md has the format;
// `tailrace key new` (python/tailrace/cli/key.py) makes such files, too.
//
// A key that others can read or replace protects nothing, so such a file is refused. Messages name the file, the line
// and what was expected, but never show what is in the file.
#pragma once

#include <string>

#include "base/status.hpp"
#include "transport/key/forward_key.hpp"
#include "transport/key/random_bytes.hpp"

namespace tailrace::impl {

// Reads a key file. `path` may begin with "~/". Fails if it is anything but a regular file of this user, which no one
// else may read or write, or if its contents are not those of a key file. Follows no link in the last component.
Result<ForwardKey> read_key(const std::string& path);

// Makes a key file with a new key. Fails if there is anything of that name: a key is never replaced.
Status make_key(const std::string& path, const RandomBytes& random = system_random());

}  // namespace tailrace::impl
