// Crew: runs work in several processes of this program, and makes sure that all of them end.
//
// It forks the processes from one that has no other thread and has opened nothing yet, and then only watches them. It
// reports the first that fails or is killed, and stops the others: their next collective call throws Stopped, so that
// they close their output. It kills a process that has not ended after a grace. If the watcher itself is killed, so
// are all.
#pragma once

#include <functional>
#include <string>

#include "peers.hpp"

namespace tsunami {

struct CrewOptions {
  int processes = 2;
  std::size_t halo = 0;      // most numbers that neighbours exchange at once
  std::size_t gathered = 0;  // most numbers that one process gathers at once
  double wait_limit = 600;   // s; for one wait for the other processes
  double grace = 30;         // s; for the others, after one has failed
};

struct CrewEnd {
  bool good = false;
  std::string message;  // the first failure: the process, and its cause
};

// Calls work(peers) in each process, and returns in this one when all have ended. The calling process must have only
// one thread. `work` may throw. Throws Error if the processes cannot be started.
CrewEnd run_crew(const CrewOptions& options, const std::function<void(Peers&)>& work);

}  // namespace tsunami
