// HDF5 opens files by MPI-IO, too. Where the connector for HDF5 is at work, it carries their data, and the library
// for MPI-IO leaves them alone: two clients would not know of each other's writes.
#pragma once

#include <dlfcn.h>

namespace tailrace::process {

// The name of the function by which the library for MPI-IO learns that HDF5 opens files in this thread: 1 when it
// begins, -1 when it has ended.
inline constexpr const char* kHdf5Opens = "tailrace_mpiio_hdf5_opens";

// While one lives, the thread's files are opened by HDF5.
class Hdf5Opens {
 public:
  Hdf5Opens() { tell(1); }
  ~Hdf5Opens() { tell(-1); }
  Hdf5Opens(const Hdf5Opens&) = delete;
  Hdf5Opens& operator=(const Hdf5Opens&) = delete;

 private:
  static void tell(int change) {
    static const auto library = reinterpret_cast<void (*)(int)>(::dlsym(RTLD_DEFAULT, kHdf5Opens));
    if (library != nullptr) library(change);
  }
};

}  // namespace tailrace::process
