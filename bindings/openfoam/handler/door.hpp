// Door: what this library has once in a process: the client that carries the files' bytes, and the writer.
#pragma once

#include <string>

#include "openfoam/output/writer.hpp"

namespace tailrace::openfoam {

// Returns the writer. The first call reads the settings: words in TAILRACE_OPENFOAM, separated by spaces
// (process_client/client_settings.hpp). If they are wrong, it says so on standard error, and files are written by the
// writer itself, without tailrace.
Writer& writer();
// Waits until everything is written, and closes the client. Time directories that are not published yet get their
// names if `publish`. Later calls do nothing.
void finish(bool publish);
// Returns true if the settings ask for the table of what was written: summary.
bool wants_summary();
// Returns where the settings ask for a trace: trace=FILE. Empty: they do not.
const std::string& trace_path();

}  // namespace tailrace::openfoam
