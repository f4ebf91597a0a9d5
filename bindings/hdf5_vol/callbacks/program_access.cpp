#include "hdf5_vol/callbacks/program_access.hpp"

#include <cstdlib>

#include "hdf5_vol/callbacks/callbacks.hpp"

namespace tailrace::hdf5 {

// The connector's information is a text (connector.cpp).
ProgramAccess::ProgramAccess(const Host& host, hid_t fapl) {
  void* information = nullptr;
  if (host.H5Pget_vol_info(fapl, &information) >= 0 && information != nullptr) {
    words_ = static_cast<const char*>(information);
    std::free(information);
  }
  host.H5Pget_sieve_buf_size(fapl, &sieve_);
}

bool ProgramAccess::restore(const Host& host, hid_t fapl) const {
  const hid_t connector = host.H5VLget_connector_id_by_value(connector_class().value);
  if (connector < 0) return false;
  const bool set = host.H5Pset_vol(fapl, connector, words_ ? words_->c_str() : nullptr) >= 0 &&
                   host.H5Pset_sieve_buf_size(fapl, sieve_) >= 0;
  return host.H5VLclose(connector) >= 0 && set;
}

}  // namespace tailrace::hdf5
