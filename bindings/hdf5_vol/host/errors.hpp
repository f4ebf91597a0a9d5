// The error stack of the host: errors reach the program by HDF5's own means.
#pragma once

#include <string>

#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// Register the connector's error class with a host, and unregister it.
void register_errors(Host& host);
void unregister_errors(Host& host);

// Puts `message` on the error stack. The caller then returns failure.
void push_error(const Host& host, const char* function, const std::string& message);
// Puts it on the given stack.
void push_error(const Host& host, hid_t stack, const char* function, const std::string& message);

// While it lives, HDF5 prints no errors. It cannot stop a program that prints by the old interface (H5Eset_auto1);
// can() is then false.
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
