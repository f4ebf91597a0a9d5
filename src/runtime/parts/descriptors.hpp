// Computes how many file descriptors the files of iterations may use.
#pragma once

#include <cstdint>

namespace tailrace::impl {

// Returns the number for one client of place `thread`. It is a small part of the process's descriptors, which are the
// program's own.
uint64_t descriptors_in_program();

// Returns the number for each of `clients` in a process that is only a server, after what the server itself needs.
uint64_t descriptors_in_server(uint64_t clients);

// Returns how many clients a node's server expects if the configuration does not say it.
uint32_t clients_to_expect();

}  // namespace tailrace::impl
