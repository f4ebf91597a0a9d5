#include "hdf5_vol/host/wheel_filters.hpp"

#include <strings.h>

#include <climits>
#include <filesystem>
#include <system_error>

namespace tailrace::hdf5 {

std::string wheel_filters_of(const std::string& library) {
  std::error_code none;
  const std::filesystem::path libraries = std::filesystem::canonical(library, none).parent_path();
  if (::strcasecmp(libraries.filename().c_str(), "netcdf4.libs") != 0) return "";
  const std::filesystem::path filters = libraries.parent_path() / "netCDF4/plugins";
  return std::filesystem::is_directory(filters, none) ? filters.string() : "";
}

void find_wheel_filters(const Host& host) {
  if (host.wheel_filters.empty()) return;
  unsigned folders = 0;
  host.H5PLsize(&folders);
  char folder[PATH_MAX] = "";
  for (unsigned i = 0; i < folders; ++i) {
    if (host.H5PLget(i, folder, sizeof folder) > 0 && host.wheel_filters == folder) return;
  }
  host.H5PLappend(host.wheel_filters.c_str());
}

}  // namespace tailrace::hdf5
