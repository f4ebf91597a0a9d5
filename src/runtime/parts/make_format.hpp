// make_format: makes the file format that a configuration selects (`format.kind`). Only this names their classes.
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"
#include "format/format.hpp"
#include "model/config/config.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Fails if the format's library cannot be used in this process.
Status check_format(const Config& config);

// Lets the format's library initialize itself, so that no iteration has to wait for that. Any thread.
void rehearse_format(const Config& config, int client);

// Borrows `config` and `files` for the life of the format; `files` belong to the storage that writes the format's
// files. `run`: the identity of the run, which the files carry.
std::unique_ptr<Format> make_format(const Config& config, FileSystem& files, int client, const std::string& run);

}  // namespace tailrace::impl
