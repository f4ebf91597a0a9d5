// The error stack of the host: what failed comes back through HDF5's own means.
#pragma once

#include <string>

#include "host.hpp"

namespace tailrace::hdf5 {

// Registers the class of errors of this connector with a host, and gives it back.
void register_errors(Host& host);
void unregister_errors(Host& host);

// Puts `message` on the error stack. The caller then returns failure.
void push_error(const Host& host, const char* function, const std::string& message);
// … on that one.
void push_error(const Host& host, hid_t stack, const char* function, const std::string& message);

}  // namespace tailrace::hdf5
