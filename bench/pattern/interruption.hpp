// Ends a run in an orderly way when the user or a batch system wants it gone (SIGINT, SIGTERM, SIGHUP).
//
// The signal only sets a flag; the loops ask for it between blocks and leave by an exception, so that every folder
// and every client is closed on the way out. A signal that comes a second later or more ends the program at once.
#pragma once

namespace bench {

void catch_interruptions();

// Throws RunError once a signal has come.
void stop_if_interrupted();

}  // namespace bench
