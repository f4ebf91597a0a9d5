// may_take_from: the rule of morphing, which decides from which earlier writes a later one may take bytes over, so
// that requests never wait in a cycle.
//
// Writes that take bytes over from one another are bound: they end together, when all have been carried out. Each
// waits for blockers: earlier requests that conflict with it. A bond has a floor, the least number, in the order of
// admission, among its members; an unbound request counts as a bond of its own. The rule is that every blocker of
// every member has a number below the floor. Then each step from a bond to one that it waits for lowers the floor, so
// there is no cycle. A pure function.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tailrace::impl {

// An earlier write of the same client that a new one overlaps, and that has not begun.
struct MorphCandidate {
  uint32_t slot = 0;
  uint64_t number = 0;          // in the order of admission, from 1
  uint64_t floor = 0;           // of its bond
  uint64_t newest_blocker = 0;  // the highest number that a member of its bond waits for; 0: none
};

// Returns from how many of `candidates` a write may take bytes over, and moves those to the front. The write must
// wait for others up to number `newest_blocker` (0: none), and for the remaining candidates, too.
inline size_t may_take_from(std::span<MorphCandidate> candidates, uint64_t newest_blocker) {
  // The write also waits for the blockers of the candidates, since their bytes become its own.
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
