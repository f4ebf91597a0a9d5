// Files of a mode Collective that several nodes began and that are not whole at the end.
#pragma once

#include "damaris/ranks/ranks.hpp"
#include "damaris/xml/model.hpp"

namespace tailrace::damaris {

// Waits until all ranks that write have ended, at most so long; then the first of them reports on stderr the files
// that a node has not written. Collective over the ranks of this kind. Returns true if there are none, as far as this
// rank knows.
bool report_unfinished(const Model& model, const Ranks& ranks, double seconds);

}  // namespace tailrace::damaris
