// The rule of morphing: from which earlier writes a later one may take bytes over, so that nobody ever waits in a
// circle.
//
// A write that was taken from ends after the one that took, and a request ends after its blockers, so a write that
// takes from O and waits for one that waits for O would never end. Each write has a floor: the least number, in the
// order of admission, among itself and all that it took from, and from which those took. If every blocker of a write
// has a number below its floor, going from a request to its blocker always lowers the floor, and going to the one
// that took from it never raises it and leads to a higher number: there is no way back. A pure function.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tailrace::impl {

// An earlier write of the same client that a new one overlaps, and that has not begun.
struct MorphCandidate {
  uint32_t slot = 0;
  uint64_t number = 0;          // of its admission, from 1
  uint64_t floor = 0;           // see above
  uint64_t newest_blocker = 0;  // the highest number that it waits for; 0: none
};

// From how many of `candidates` a write may take that must wait for others up to number `newest_blocker` (0: for
// none): puts those first. It must wait for the rest, too.
inline size_t may_take_from(std::span<MorphCandidate> candidates, uint64_t newest_blocker) {
  // It waits for whatever those wait for, too: their bytes are its own now.
  for (const MorphCandidate& one : candidates) newest_blocker = std::max(newest_blocker, one.newest_blocker);
  std::sort(candidates.begin(), candidates.end(),
            [](const MorphCandidate& a, const MorphCandidate& b) { return a.floor > b.floor; });
  size_t count = candidates.size();
  while (count > 0 && candidates[count - 1].floor <= newest_blocker) {
    newest_blocker = std::max(newest_blocker, candidates[--count].number);
  }
  return count;
}

}  // namespace tailrace::impl
