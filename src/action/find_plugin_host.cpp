#include "action/find_plugin_host.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace tailrace::impl {

Result<std::string> find_plugin_host(const std::string& folder) {
  std::string looked;
  for (const char* place : {"", "../libexec/tailrace/", "../action/host/"}) {
    std::string path = fmt::format("{}/{}tailrace-plugin-host", folder, place);
    if (::access(path.c_str(), X_OK) == 0) return path;
    looked += (looked.empty() ? "" : ", ") + path;
  }
  return Status(
      TAILRACE_NOT_FOUND,
      fmt::format("the program that runs actions: found no executable tailrace-plugin-host, expected one of {}",
                  looked));
}

}  // namespace tailrace::impl
