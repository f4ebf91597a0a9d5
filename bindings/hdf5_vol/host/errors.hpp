// The error stack of the host: what failed comes back through HDF5's own means.
#pragma once

#include <string>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// Registers the class of errors of this connector with a host, and gives it back.
void register_errors(Host& host);
void unregister_errors(Host& host);

// Puts `message` on the error stack. The caller then returns failure.
void push_error(const Host& host, const char* function, const std::string& message);
// … on that one.
void push_error(const Host& host, hid_t stack, const char* function, const std::string& message);

// While it lives, HDF5 prints nothing of calls that fail. A program that prints as of old (H5Eset_auto1) cannot be
// kept from that.
class Quiet {
 public:
  explicit Quiet(const Host& host);
  ~Quiet();
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  bool can() const { return can_; }

 private:
  const Host& host_;
  bool can_ = false;
  H5E_auto2_t print_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace tailrace::hdf5
