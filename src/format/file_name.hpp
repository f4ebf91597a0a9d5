// Names of the files of iterations. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/config.hpp"

namespace tailrace::impl {

// Returns the name of an iteration's file, without its directory: "cm1_c3_000012.h5"; "cm1_c3.h5" if all iterations
// are in one file. If several are (storage.iterations_per_file), the number is the first that may be in it.
std::string file_name_of(const Config& config, int client, int64_t iteration);

// Returns the iteration whose file has this name; none if it is no file of this client's series.
std::optional<int64_t> iteration_of(const Config& config, int client, std::string_view name);

// Returns true if a file of this name belongs to the client's series, whether it has one iteration or several.
bool is_iteration_file(const Config& config, int client, std::string_view name);

}  // namespace tailrace::impl
