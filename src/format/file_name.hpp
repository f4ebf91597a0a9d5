// Names of the files of iterations. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/config.hpp"

namespace tailrace::impl {

// Returns the name of an iteration's file, without its directory.
std::string file_name_of(const Config& config, int client, int64_t iteration);

// Returns the iteration whose file has this name; none if it is no file of this client's series.
std::optional<int64_t> iteration_of(const Config& config, int client, std::string_view name);

}  // namespace tailrace::impl
