// Outcome: what became of a call that hands something over to tailrace.
#pragma once

#include "damaris/include/Damaris.h"

namespace tailrace::damaris {

// The code to return, and true if the call has been carried out. With a code other than OK as well, the code is that
// of an earlier failure, and the call must not be repeated.
struct Outcome {
  int code = DAMARIS_OK;
  bool done = true;
};

// Returns what became of a call that does one thing and then the other. That a thing was not done counts most.
inline Outcome both(const Outcome& one, const Outcome& other) {
  if (!one.done) return one;
  if (!other.done) return other;
  return {one.code != DAMARIS_OK ? one.code : other.code, true};
}

// Returns the first code that is not OK.
inline int first_of(int one, int other) { return one != DAMARIS_OK ? one : other; }

}  // namespace tailrace::damaris
