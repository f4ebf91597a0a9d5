// Ends a run in an orderly way on SIGINT, SIGTERM or SIGHUP, from the user or a batch system.
//
// The signal only sets a flag. The loops check it between blocks and leave by an exception, so that every folder and
// every client is closed on the way out. A second signal, a second or more later, ends the program at once.
#pragma once

namespace bench {

void catch_interruptions();

// Throws RunError if a signal has come.
void stop_if_interrupted();

}  // namespace bench
