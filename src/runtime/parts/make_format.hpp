// make_format: the file format that a configuration asks for (`format.kind`). Here alone their classes are named.
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"
#include "format/format.hpp"
#include "model/config.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Fails if the format's library cannot be used in this process.
Status check_format(const Config& config);

// `config` and `files`, those of the storage that the format's files are written by, are borrowed for the life of the
// format. `run`: the identity of the run, which the files carry.
std::unique_ptr<Format> make_format(const Config& config, FileSystem& files, int client, const std::string& run);

}  // namespace tailrace::impl
