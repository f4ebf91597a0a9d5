#include "format/hdf5/handle.hpp"

#include <fmt/format.h>

namespace tailrace::impl {
namespace {

// Belongs to the HDF5 library, which is itself one a process.
std::mutex library_mutex;
bool library_ready = false;  // guarded by library_mutex

herr_t take_innermost(unsigned, const H5E_error2_t* error, void* text) {
  // Walked upwards, the first entry is where HDF5 found the fault; the others say who called whom.
  auto& innermost = *static_cast<std::string*>(text);
  if (innermost.empty() && error->desc != nullptr) innermost = error->desc;
  return 0;
}

}  // namespace

LibraryLock::LibraryLock() : lock_(library_mutex) {
  if (library_ready) return;
  H5dont_atexit();  // the process may unload us before it exits
  H5open();
  H5PLset_loading_state(0);  // no plugin of the application's HDF5, wherever its environment points
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  library_ready = true;
}

Status hdf5_failure(tailrace_status code, const std::string& operation, const std::string& file) {
  std::string innermost;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_innermost, &innermost);
  H5Eclear2(H5E_DEFAULT);
  Fault fault;
  fault.code = code;
  fault.message =
      fmt::format("{} '{}': HDF5: {}", operation, file, innermost.empty() ? "no reason given" : innermost);
  fault.operation = operation;
  fault.file = file;
  return Status(std::move(fault));
}

}  // namespace tailrace::impl
