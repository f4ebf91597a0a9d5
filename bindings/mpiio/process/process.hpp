// Process: what the library for MPI-IO has once in a process: the client that carries the data of all files.
#pragma once

#include <string>

#include "mpiio/collective/hints.hpp"
#include "process_client/process_client.hpp"

namespace tailrace::mpiio {

using Refusal = process::ProcessClient::Refusal;

// Returns the client of the process. The first call reads the settings: words in TAILRACE_MPIIO, separated by spaces
// (client_settings.hpp). If they are wrong, it says so on standard error, and nothing is carried.
process::ProcessClient& carrier();
// Lets the function run before the process ends, to hand over to the client what has been held back. `at_signal`: the
// program may be anywhere, so it waits for no other thread.
void set_before_end(void (*hand_over)(bool at_signal));
// Returns false if the settings are wrong.
bool carries_anything();
// Returns true if data that are written here go where the server would write them: no forwarder does that, and no
// configuration says where.
bool may_write_here();
// Returns true if the processes of a node may hand over each other's bytes: each has a client of its own, and keeps
// the order between them.
bool may_share_buffer();
// Returns true unless the settings ask for no more order between processes than MPI-IO promises: `relaxed`.
bool keeps_order();
// Returns the choices for collective accesses, which hints of a file change. Where a server or a forwarder merges
// what the processes of a node hand over, they exchange only the smallest pieces.
Choices choices();
// Returns the file that keeps what trials have shown (Tunings); empty if there is none.
std::string profile();
// Returns true if nonblocking collective writes may go through aggregators: if the settings name an algorithm, as
// they do in all processes. Such a write needs progress in every call that waits. A blocking collective call of MPI
// must then be made of its nonblocking form, in all processes: the two do not match (MPI 3.1, §5.12).
bool exchanges_in_background();

}  // namespace tailrace::mpiio
