// Names of the files of iterations. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/config/config.hpp"

namespace tailrace::impl {

// Returns the name of an iteration's file, without its directory: "cm1_c3_000012.h5". If several iterations are in it
// (storage.iterations_per_file), the number is the first that may be.
std::string file_name_of(const Config& config, int client, int64_t iteration);

// Format plain: returns the names of this client's files, with a field for the iteration alone:
// "run_It{iteration}.h5".
std::string pattern_of(const Config& config, int client);

// Returns the iteration in the name of a file, or of the XDMF file beside one; none if the name has not this pattern.
std::optional<int64_t> iteration_in(std::string_view pattern, std::string_view name);
bool is_xdmf_of(std::string_view pattern, std::string_view name);

// Returns the name of the XDMF file beside the file `name`: "run_It3.xmf".
std::string xdmf_name_of(const std::string& name);

// Returns the iteration in the name of a file, which may have several; none if it is no file of this client's series.
std::optional<int64_t> iteration_of(const Config& config, int client, std::string_view name);

}  // namespace tailrace::impl
