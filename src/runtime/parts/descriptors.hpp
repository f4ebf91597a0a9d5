// How many file descriptors there are for the files of iterations.
#pragma once

#include <cstdint>

namespace tailrace::impl {

// In the process of the program, whose own they are: the smaller part of them, for one client of place `thread`.
uint64_t descriptors_in_program();

// In a process that is a server and nothing else, for each of `clients`, beside those that it needs otherwise.
uint64_t descriptors_in_server(uint64_t clients);

// Returns the number of clients that the server of a node expects if the configuration does not say it.
uint32_t clients_to_expect();

}  // namespace tailrace::impl
