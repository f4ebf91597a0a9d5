// HDF5 follows external links, and opens the sources of virtual datasets, without asking the connector. They may lead
// to a file that is on its way, which HDF5 refuses to open. These functions then wait for that file.
#pragma once

#include <cstring>

#include "hdf5_vol/host/errors.hpp"
#include "hdf5_vol/host/host.hpp"
#include "hdf5_vol/process/process.hpp"
#include "process_client/hdf5_opens.hpp"

namespace tailrace::hdf5 {

inline bool has_failed(const void* opened) { return opened == nullptr; }
inline bool has_failed(herr_t done) { return done < 0; }

// Calls HDF5. If the call fails while a file is on its way, waits for the file and calls once more. Do not use it for
// a call that calls the program back.
template <class Call>
auto call_leading_out(const Host& host, Call call) {
  const process::Hdf5Opens opens;
  if (!Process::instance().detached().any()) return call();
  {
    const Quiet quiet(host);
    if (const auto result = call(); !has_failed(result)) return result;
  }
  Process::instance().detached().wait_for_all();
  return call();
}

// Call this before a call of HDF5 that calls the program back for each thing that it finds where a name leads.
inline void wait_if_by_name(const H5VL_loc_params_t& where) {
  if (where.type == H5VL_OBJECT_BY_NAME && std::strcmp(where.loc_data.loc_by_name.name, ".") != 0) {
    Process::instance().detached().wait_for_all();
  }
}

}  // namespace tailrace::hdf5
