// explore(): tries the interleavings of a few threads, one schedule after another, each of them reproducible.
//
// For lock-free code that is a template over atomics (src/base/sync/sleep_flag.hpp): instantiate it with
// InterleavedAtomic, and pass the bodies of two to four threads to explore(). They run as real threads, but one at a
// time; at every atomic operation another thread may go on. A schedule is a string of decisions: which thread takes
// the next step, whether a load sees an older value that its memory order still allows, and whether a weak
// compare-exchange fails spuriously.
//
// explore() tries all schedules with at most `deviations` decisions that differ from the plain course, fewest first,
// then random ones. A failure comes with its schedule and the list of its steps. Never used outside tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "testing/interleaved_atomic.hpp"

namespace tailrace::impl::testing {

// One run: built anew for each schedule, so that each starts from the same state. The closures own what the bodies
// share (a shared_ptr). Bodies must be deterministic and must not block except in block_until().
struct InterleavedRun {
  std::vector<std::function<void()>> threads;  // at most kMaxInterleavedThreads
  std::function<void()> check;                 // called when all have ended; may be empty
};

struct ExploreOptions {
  int deviations = 3;                // the bound of the exhaustive search
  uint64_t max_schedules = 300'000;  // limit of the exhaustive search; beyond it, the search is incomplete
  uint64_t random_schedules = 2'000;
  uint64_t seed = 1;          // for the random schedules; TAILRACE_SEED in the environment replaces it
  size_t max_steps = 10'000;  // in one schedule; more is a failure (a thread spins)
  std::string replay;         // run only this schedule; TAILRACE_SCHEDULE in the environment replaces it
};

struct Exploration {
  bool complete = false;   // the search tried every schedule within the bound
  uint64_t schedules = 0;  // schedules tried
  uint64_t seed = 0;
  std::string failure;   // what went wrong; empty: nothing
  std::string schedule;  // the schedule that failed …
  std::string trace;     // … and its steps, one on each line

  bool ok() const { return failure.empty(); }
  // Returns all of the above as text for a failing test, with the line that reproduces it.
  std::string report() const;
};

Exploration explore(const std::function<InterleavedRun()>& setup, ExploreOptions options = {});

// ---- for the bodies and the check --------------------------------------------------------------------------------

// Fails the schedule unless `condition` holds.
void require(bool condition, const std::string& message);

// Makes the calling thread sleep until `predicate` holds; nothing else runs between that moment and its return. If
// all threads sleep for ever, that is a deadlock, which fails the schedule. The predicate may only load. It sees the
// newest values, as a futex in the kernel does, and they order as an acquire load does.
void block_until(const std::function<bool()>& predicate);

// Call it in a loop that spins: another thread, if there is one, goes first.
void yield_to_others();

}  // namespace tailrace::impl::testing
