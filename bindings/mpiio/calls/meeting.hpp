// Meetings: all processes of a collective call wait for one another before it, while their collective writes make
// progress. Afterwards the MPI's own call, which makes none, waits for no process that may need this process's
// progress.
//
// A process must wait in a call for nothing but what the call itself needs: to end the writes first might wait for a
// process that begins one of them only later. Where no writes go on in the background, no function here does
// anything. Any thread may call.
#pragma once

#include "mpiio/mpi/mpi_header.hpp"

namespace tailrace::mpiio {

// Waits for all processes of the communicator. What is no communicator is left to the MPI's own call.
void meet(MPI_Comm comm);

// Waits for all processes of the group, which call with an equal tag. No other process has to. (A process of another
// MPI_COMM_WORLD cannot be met so: then nothing waits.)
void meet_group(MPI_Group group, unsigned tag);
// Call these together, after the MPI has been initialised and before it is finalised.
void begin_meetings();
void end_meetings();

// A window has a communicator of its own for its meetings, and so has a file. All processes of `comm`, which have
// made it, note it together, and forget it together.
void note_window(MPI_Win window, MPI_Comm comm);
void meet_window(MPI_Win window);
void forget_window(MPI_Win window);
void note_file(MPI_File file, MPI_Comm comm);
void meet_file(MPI_File file);
void forget_file(MPI_File file);

// A process that exposes its window tells those of the group, who wait for that before they access it.
void tell_exposed(MPI_Win window, MPI_Group to);
void wait_until_exposed(MPI_Win window, MPI_Group by);

}  // namespace tailrace::mpiio
