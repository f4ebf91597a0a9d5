// Report: what a run was and took, as JSON for programs and as a few lines for people.
//
// Computing is the solver's steps and the packing of fields; waiting is every call of the output, and the close.
#pragma once

#include "options.hpp"
#include "run.hpp"

namespace tsunami {

// Throws Error.
void write_json(const Options& options, const Result& result);
void print_summary(const Options& options, const Result& result);

}  // namespace tsunami
