#include "place/core/server_executable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "base/os/process.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::string canonical_path(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::canonical(path, error);
  return error ? fs::absolute(path).string() : found.string();
}

std::vector<fs::path> places() {
  const fs::path here = own_directory();
  std::vector<fs::path> all = {here / kServerProgram, here / "../bin" / kServerProgram,
                               here / "../libexec/tailrace" / kServerProgram,
                               here / "../place/core" / kServerProgram};  // in a build directory
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::istringstream folders(path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (!folder.empty() && folder[0] == '/') all.push_back(fs::path(folder) / kServerProgram);
    }
  }
  for (fs::path& place : all) place = place.lexically_normal();
  return all;
}

Result<std::string> only(const std::string& path, const char* source) {
  if (is_program(path)) return canonical_path(path);
  return Status(TAILRACE_NOT_FOUND,
                fmt::format("the server's program: '{}', as {} says, is not an executable file", path, source));
}

}  // namespace

Result<std::string> find_server_executable(const std::string& configured) {
  if (!configured.empty()) return only(configured, "the configuration");
  const char* given = std::getenv("TAILRACE_SERVER");
  if (given != nullptr && *given != '\0') return only(given, "TAILRACE_SERVER");
  std::vector<std::string> looked;
  for (const fs::path& place : places()) {
    if (is_program(place)) return canonical_path(place);
    looked.push_back(place.string());
  }
  return Status(TAILRACE_NOT_FOUND,
                fmt::format("the server's program {} is in none of: {}; TAILRACE_SERVER can name it", kServerProgram,
                            fmt::join(looked, ", ")));
}

}  // namespace tailrace::impl
