// before_telling(): writes what is on its way before other nodes may hear of it.
//
// A process of this node waits for bytes that it touches (pending.hpp). One of another node cannot know of them. So
// if the program runs on several nodes, this runs before each call of MPI by which another process may learn that
// this one has got so far (mpi_calls.def).
#pragma once

#include <atomic>

namespace tailrace::mpiio {

// False once it is known that all processes of the program share a table of pending bytes, or that the program asks
// for no more order than MPI-IO promises. Set by look_who_listens(), before the program has threads that call MPI,
// and by others_join(), before a call that others can hear.
inline std::atomic<bool> other_nodes_listen = true;

// Notes that the program communicates with processes that it did not begin with, which may be on other nodes.
inline void others_join() { other_nodes_listen.store(true, std::memory_order_relaxed); }

// Finds out whether all processes of the program are on one node. All call it, when MPI has begun.
void look_who_listens();

// Writes what is on its way. Failures belong to the files.
void write_before_telling();

inline void before_telling() {
  if (other_nodes_listen.load(std::memory_order_relaxed)) write_before_telling();
}

}  // namespace tailrace::mpiio
