// The rule of morphing: from which earlier writes a later one may take bytes over, so that nobody ever waits in a
// circle.
//
// Writes that take bytes over from one another are bound: they end together, when all have been carried out. Each
// waits for blockers, requests that came before it and conflict with it. A bond has a floor, the least number, in the
// order of admission, among its members; a request that is in none is a bond of its own. The rule is that every
// blocker of every member has a number below the floor. Then going from a bond to one that it waits for always lowers
// the floor, so there is no way back. A pure function.
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
  uint64_t floor = 0;           // of its bond
  uint64_t newest_blocker = 0;  // the highest number that a member of its bond waits for; 0: none
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
