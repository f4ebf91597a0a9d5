// Process: what the library for MPI-IO has once in a process: the client that carries the data of all files.
#pragma once

#include "process_client/process_client.hpp"

namespace tailrace::mpiio {

using Refusal = process::ProcessClient::Refusal;

// Returns the client of the process. The first call reads the settings: words in TAILRACE_MPIIO, separated by spaces
// (client_settings.hpp). If they are wrong, it says so on standard error, and nothing is carried.
process::ProcessClient& carrier();
// Returns false if the settings are wrong.
bool carries_anything();

}  // namespace tailrace::mpiio
