// Crew: runs a piece of work in several processes of this program, and sees to it that all of them end.
//
// Forks the processes from one that has no other thread and has opened nothing yet, and then only watches: the first
// that fails or is killed is told, the others are stopped (their next collective call throws Stopped, so that they
// close their output), and who has not ended after a grace is killed. If the watcher itself is killed, so are all.
#pragma once

#include <functional>
#include <string>

#include "peers.hpp"

namespace tsunami {

struct CrewOptions {
  int processes = 2;
  std::size_t halo = 0;      // numbers that neighbours exchange at once, at most
  std::size_t gathered = 0;  // numbers that one process gathers at once, at most
  double wait_limit = 600;   // s; of one wait for the other processes
  double grace = 30;         // s; for the others, when one has failed
};

struct CrewEnd {
  bool good = false;
  std::string message;  // of what went wrong first: which process, and what
};

// Calls work(peers) in each process, and returns in this one when all have ended. The calling process must have one
// thread only. `work` may throw. Throws Error if no processes can be had.
CrewEnd run_crew(const CrewOptions& options, const std::function<void(Peers&)>& work);

}  // namespace tsunami
