#include "format/openpmd/handle.hpp"

#include <fmt/format.h>

#include <atomic>

#include "base/memory/process_mark.hpp"

namespace tailrace::impl {
namespace {

// Guards the HDF5 library, of which a process has only one.
std::mutex library_mutex;
bool library_ready = false;  // guarded by library_mutex
// The mark of the process whose thread holds library_mutex, or 0. relaxed: a process only checks for another
// process's mark, which was stored before the fork.
std::atomic<uint64_t> holder{0};

herr_t take_innermost(unsigned, const H5E_error2_t* error, void* text) {
  // Walking upwards, the first entry is where HDF5 found the fault; the others are its callers.
  auto& innermost = *static_cast<std::string*>(text);
  if (innermost.empty() && error->desc != nullptr) innermost = error->desc;
  return 0;
}

}  // namespace

LibraryLock::LibraryLock() : lock_(library_mutex) {
  holder.store(process_mark(), std::memory_order_relaxed);
  if (library_ready) return;
  H5dont_atexit();  // the process may unload this library before it exits
  H5open();
  H5PLset_loading_state(0);  // load no plugins of the application's HDF5, wherever its environment points
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  library_ready = true;
}

LibraryLock::~LibraryLock() { holder.store(0, std::memory_order_relaxed); }

Status LibraryLock::check_usable() {
  const uint64_t held_by = holder.load(std::memory_order_relaxed);
  if (held_by == 0 || held_by == process_mark()) return {};
  return Status(
      TAILRACE_UNSUPPORTED,
      "this process was forked while its parent's writer was inside the HDF5 library of tailrace, and cannot "
      "use it; fork after a flush, or use place core");
}

bool note_address(hid_t object, uint64_t& address) {
  H5O_info2_t info{};
  haddr_t found = HADDR_UNDEF;
  if (H5Oget_info3(object, &info, H5O_INFO_BASIC) < 0) return false;
  if (H5VLnative_token_to_addr(object, info.token, &found) < 0) return false;
  address = found;
  return true;
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
