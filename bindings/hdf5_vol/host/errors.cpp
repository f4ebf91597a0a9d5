#include "hdf5_vol/host/errors.hpp"

#include <tailrace/tailrace.h>

namespace tailrace::hdf5 {

void register_errors(Host& host) {
  host.errors = host.H5Eregister_class("tailrace", "tailrace", tailrace_version());
  host.error_major = host.H5Ecreate_msg(host.errors, H5E_MAJOR, "output carried beside the program");
  host.error_minor = host.H5Ecreate_msg(host.errors, H5E_MINOR, "could not be written");
}

// Unregistering the class also closes its messages.
void unregister_errors(Host& host) {
  if (host.errors >= 0) host.H5Eunregister_class(host.errors);
  host.errors = H5I_INVALID_HID;
}

void push_error(const Host& host, const char* function, const std::string& message) {
  push_error(host, H5E_DEFAULT, function, message);
}

void push_error(const Host& host, hid_t stack, const char* function, const std::string& message) {
  host.H5Epush2(stack, "tailrace", function, 0, host.errors, host.error_major, host.error_minor, "%s",
                message.c_str());
}

Quiet::Quiet(const Host& host) : host_(host) {
  unsigned is_v2 = 0;
  can_ = host.H5Eauto_is_v2(H5E_DEFAULT, &is_v2) >= 0 && is_v2 != 0 &&
         host.H5Eget_auto2(H5E_DEFAULT, &print_, &context_) >= 0;
  if (can_) host.H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Quiet::~Quiet() {
  if (can_) host_.H5Eset_auto2(H5E_DEFAULT, print_, context_);
}

}  // namespace tailrace::hdf5
